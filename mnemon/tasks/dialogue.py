"""Dialogue (thesis §5.4): read what was said, and say something in return.

The context is all the chat before, of which the last 20 words are read; of the response the first 10 words are asked
for, and its end. The most frequent words of the training part are tokens, and all others are one, the unknown.

What training minimises is the mean cross-entropy of the words and the end. A test lets the model answer by itself, ten
times for each context, and averages over them; what differs between these samples is the noise inside the model, which
the number of the batch decides. Models without noise answer the same ten times.

Deviations: the thesis's data sets are other ones, some of them not public. Its words are split by a program that it
does not name, ours by :mod:`mnemon.data.words`.

Letters: ``N`` pairs, ``C`` words of a context and its end, ``A`` of a response and its end, ``B`` batch, ``O`` tokens.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.data.dialogue.catalogue import DIALOGUE_SETS
from mnemon.data.dialogue.conversations import Lengths, Pair
from mnemon.data.dialogue.split import split
from mnemon.data.glove import find_glove, has_glove, read_glove
from mnemon.data.notes import Notes
from mnemon.data.vocabulary import most_frequent
from mnemon.errors import UserError, look_up
from mnemon.tasks.answered import Answered, measure
from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import END
from mnemon.tasks.labelled import Splits
from mnemon.tasks.scoring import class_loss, class_metrics
from mnemon.tasks.settings import check_at_least
from mnemon.tasks.text_scores import require_scores
from mnemon.tasks.wording import Wording
from mnemon.views import TokenVectors, ViewSizes, Visit

WORDS = 5_000  # of the vocabulary; the thesis has 20,000 and 40,000
SAMPLES = 10  # of each context in a test
CONTEXTS = 1_000  # answered in a test, the first of a random order; the thesis answers all 10,000


class EncodedPairs(NamedTuple):
    """Contexts and responses as tokens, each with an end, the rest of its row filled up with ends."""

    contexts: Int[Tensor, "N C"]
    context_lengths: Int[Tensor, "N"]
    responses: Int[Tensor, "N A"]
    response_lengths: Int[Tensor, "N"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialogue:
    """Show a context; ask for the response."""

    pairs: EncodedPairs
    wording: Wording
    word_vectors: TokenVectors | None = None
    samples: int = 1  # answers to each context in a test
    contexts: int | None = None  # of a test; None: all

    def __post_init__(self) -> None:
        check_at_least("Dialogue", 1, samples=self.samples, contexts=1 if self.contexts is None else self.contexts)

    @property
    def size(self) -> int:
        """How many pairs there are, N."""
        return len(self.pairs.contexts)

    @property
    def input_size(self) -> ViewSizes:
        """One view: the context."""
        return ViewSizes((self.output_size,), "sequence")

    @property
    def output_size(self) -> int:
        """The words, the end and the unknown."""
        return len(self.wording.table)

    def kept(self) -> dict[str, Any]:
        """What a run keeps, so that one can talk to its model without the data."""
        return self.wording.to_json()

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw pairs, each with the same probability; one may come twice."""
        rows = torch.randint(self.size, (batch_size,), generator=generator, device=generator.device)
        return self.batch_of(rows.cpu())

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every context of the test once, and then all of them again until each has its samples."""
        for _ in range(self.samples):
            for first in range(0, self._tested, batch_size):
                yield self.batch_of(torch.arange(first, min(first + batch_size, self._tested)))

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The pairs with these numbers. All batches ask for as many steps, so that none tells how long an answer is."""
        lengths = self.pairs.context_lengths[rows]
        context = self.pairs.contexts[rows, : int(lengths.max())].T.to(torch.int64)
        response = self.pairs.responses[rows].T.to(torch.int64)
        steps = torch.arange(len(response)).unsqueeze(1)
        targets = torch.zeros(*response.shape, self.output_size)
        return Batch(
            inputs=torch.zeros(*response.shape, 0),
            targets=targets.scatter_(2, response.unsqueeze(2), 1.0),
            mask=(steps < self.pairs.response_lengths[rows]).to(torch.float32),
            visits=(Visit((context,), (lengths,)),),
        )

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked words, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right words where they stand; a test has those of :meth:`measure` instead."""
        return class_metrics(output, batch)

    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> Answered:
        """The answers of a batch, each up to its end, and the right ones."""
        return Answered.of(output.argmax(-1), batch.targets.argmax(-1))

    def measure(self, pooled: Sequence[Answered]) -> dict[str, float]:
        """What :func:`mnemon.tasks.answered.measure` finds in all answers."""
        return measure(pooled, self._tested, self.word_vectors, self.output_size)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """Context, response and, where given, the model's answer."""
        assert batch.visits is not None
        lines = [
            f"context   {self.wording.text(batch.visits[0].views[0][:, row].tolist())}",
            f"response  {self.wording.text(batch.targets[:, row].argmax(-1).tolist())}",
        ]
        if output is not None:
            lines.append(f"answer    {self.wording.text(output[:, row].argmax(-1).tolist())}")
        return "\n".join(lines)

    @property
    def _tested(self) -> int:
        return self.size if self.contexts is None else min(self.size, self.contexts)


def dialogue(
    name: str,
    data: Path,
    *,
    words: int = WORDS,
    lengths: Lengths = Lengths(),  # noqa: B008 (a NamedTuple does not change)
    samples: int = SAMPLES,
    contexts: int | None = CONTEXTS,
) -> Splits:
    """One of the sets of conversations.

    Args:
        name: chit-chat, self-dialogue, cornell, open-subtitles or dialogue-pairs.
        data: the folder that holds its folder, and a file of GloVe vectors; dialogue-pairs does without the vectors.
        words: how many words the vocabulary has, the most frequent of the training part.
        lengths: how many words of a context and of a response count.
        samples: answers to each context in the test; the validation part has one.
        contexts: how many contexts are answered in a test; None: all.
    """
    check_at_least("dialogue", 1, words=words, **lengths._asdict())
    require_scores()
    known = look_up(DIALOGUE_SETS, name, "set of conversations")
    notes = Notes()
    parts = split(list(known.read(data, lengths, notes)), f"{known.title} in {data}")
    if (complaint := notes.complaint()) is not None:
        warnings.warn(f"{known.title}: {complaint}", stacklevel=2)
    wording = Wording.of(
        most_frequent((word for pair in parts.train for side in pair for word in side), words), lengths
    )
    vectors = _vectors(wording, data) if known.needs_vectors or has_glove(data) else None
    train, validation, test = (
        Dialogue(
            pairs=encode(part, wording),
            wording=wording,
            word_vectors=vectors,
            samples=samples if part is parts.test else 1,
            contexts=None if part is parts.train else contexts,
        )
        for part in parts
    )
    return Splits(train, validation, test)


def encode(pairs: Sequence[Pair], wording: Wording) -> EncodedPairs:
    """Pairs as tokens."""
    contexts = [[*wording.table.encode(pair.context), END] for pair in pairs]
    responses = [[*wording.table.encode(pair.response), END] for pair in pairs]
    return EncodedPairs(*_fill(contexts, wording.lengths.context), *_fill(responses, wording.lengths.response))


def _fill(rows: list[list[int]], longest: int) -> tuple[Int[Tensor, "N L"], Int[Tensor, "N"]]:
    filled = [[*row, *[END] * (1 + longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.int32), torch.tensor([len(row) for row in rows])


def _vectors(wording: Wording, data: Path) -> TokenVectors:
    path = find_glove(data)
    found = read_glove(path, set(wording.table.entries))
    if not found.words:
        raise UserError(f"{path} has a vector for none of the words of the conversations")
    return TokenVectors(torch.tensor(wording.table.encode(found.words)), found.vectors)
