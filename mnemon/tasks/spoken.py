"""Tests in which a model answers by itself, in words (thesis §5.4.1).

It answers ten times to each context, and what is measured is averaged over its answers. What differs between these
samples is the noise inside the model, which the number of the batch decides; a model without noise says the same ten
times. Words are the likeliest, as in the thesis.

Letters: ``A`` words of an answer, ``B`` batch, ``O`` and ``V`` tokens, ``D`` numbers of a word vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mnemon.tasks.base import Batch
from mnemon.tasks.dialogue import Dialogue
from mnemon.tasks.exchanges import until_end
from mnemon.tasks.guided import Wrapping
from mnemon.tasks.settings import check_at_least
from mnemon.tasks.text_scores import ORDERS, Text, average_cosine, corpus_bleu, distinct, sentence_bleu
from mnemon.tasks.wording import UNKNOWN
from mnemon.views import TokenVectors

SAMPLES = 10


class Answered(NamedTuple):
    """What a batch of a test was answered with, and what was right, row by row, each up to its end."""

    answers: list[Text]
    rights: list[Text]

    @classmethod
    def of(cls, answers: Int[Tensor, "A B"], rights: Int[Tensor, "A B"]) -> "Answered":
        """From tokens, time first."""
        return cls(*([tuple(until_end(row)) for row in tokens.T.tolist()] for tokens in (answers, rights)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Spoken(Wrapping):
    """A test of a model's own answers; see :func:`measure` for what it tells."""

    task: Dialogue
    samples: int = SAMPLES  # answers to each context

    def __post_init__(self) -> None:
        check_at_least("Spoken", 1, samples=self.samples)

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every context once, and then all of them again until each has its samples."""
        for _ in range(self.samples):
            yield from self.task.examples(batch_size)

    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> Answered:
        """The answers of a batch, and the right ones."""
        return Answered.of(output.argmax(-1), batch.targets.argmax(-1))

    def measure(self, pooled: Sequence[Answered]) -> dict[str, float]:
        """What :func:`measure` finds in all answers."""
        return measure(pooled, self.task.tested, self.task.word_vectors, self.output_size)


class _Vectors(NamedTuple):
    """A vector for every token, and which of them are real."""

    vectors: Float[Tensor, "V D"]
    known: Bool[Tensor, "V"]


def measure(pooled: Sequence[Answered], contexts: int, vectors: TokenVectors | None, tokens: int) -> dict[str, float]:
    """Scores by name, of answers to so many contexts, one sample of all contexts after the other.

    bleu_1 … bleu_4                sentence BLEU, averaged over all answers
    corpus_bleu_1 … corpus_bleu_4  corpus BLEU of one answer to each context, averaged over the samples
    a_glove                        A-GloVe, averaged over all answers; only where there are vectors
    distinct_1, distinct_2         of one answer to each context, averaged over the samples
    variety                        the share of different answers among the samples of a context
    length, empty                  words of an answer, and the share of those without any

    An unknown word is right nowhere, as there is no telling which word it is.
    """
    answers = [answer for batch in pooled for answer in batch.answers]
    rights = [right for batch in pooled for right in batch.rights]
    rounds = [slice(first, first + contexts) for first in range(0, len(answers), contexts)]
    each = _scores(answers, rights, None if vectors is None else _spread(vectors, tokens))
    together = [corpus_bleu(answers[part], [_matching(right) for right in rights[part]]) for part in rounds]
    found = {f"bleu_{order}": _mean([score[order - 1] for score in each]) for order in ORDERS}
    found |= {f"corpus_bleu_{order}": _mean([score[order - 1] for score in together]) for order in ORDERS}
    if vectors is not None:
        found["a_glove"] = _mean([score[-1] for score in each])
    found |= {f"distinct_{order}": _mean([distinct(answers[part], order) for part in rounds]) for order in (1, 2)}
    samples = [answers[number::contexts] for number in range(min(contexts, len(answers)))]
    return found | {
        "variety": _mean([len(set(same)) / len(same) for same in samples]),
        "length": _mean([float(len(answer)) for answer in answers]),
        "empty": _mean([float(not answer) for answer in answers]),
    }


def _scores(answers: Sequence[Text], rights: Sequence[Text], vectors: _Vectors | None) -> list[list[float]]:
    """Of each answer BLEU-1 to 4 and, where there are vectors, A-GloVe; what comes again is not scored again."""
    known: dict[tuple[Text, Text], list[float]] = {}
    pairs = list(zip(answers, rights, strict=True))
    for answer, right in pairs:
        if (answer, right) not in known:
            cosine = [] if vectors is None else [average_cosine(answer, right, *vectors)]
            known[answer, right] = [*sentence_bleu(answer, _matching(right)), *cosine]
    return [known[pair] for pair in pairs]


def _spread(vectors: TokenVectors, tokens: int) -> _Vectors:
    known = torch.zeros(tokens, dtype=torch.bool).index_fill_(0, vectors.tokens, True)
    rows = torch.zeros(tokens, vectors.vectors.shape[1]).index_copy_(0, vectors.tokens, vectors.vectors)
    return _Vectors(rows, known)


def _matching(right: Text) -> Text:
    """A right text whose unknown words match nothing."""
    return tuple(-1 if token == UNKNOWN else token for token in right)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
