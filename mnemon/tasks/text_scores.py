"""How like the right text an answer is, and how varied answers are (thesis §5.4.1).

**Sentence BLEU** is NLTK's with its smoothing method 7 (Chen and Cherry, 2014), as in the authors' program. It first
gives n-grams of which none matches a count that grows with the answer's length (method 4), then replaces each
precision by the mean of itself and its neighbours (method 5), where the one before the first is p_1 + 1 and the one
after the last that of 5-grams. One matching word in ten then gives BLEU-1 = (1.1 + 0.1 + 0)/3 = 0.4, times the penalty
for brevity, and none gives 0. Such values are far above those of unsmoothed BLEU, and compare with themselves alone.

**Corpus BLEU** (Papineni et al., 2002) is sacrebleu's over all answers together, on the task's own words.

**A-GloVe** is the cosine of the mean word vectors of answer and right text; 0 where one has no word with a vector.

**Distinct-n** (Li et al., 2016) is the share of different n-grams among those of all answers.

Letters: ``V`` tokens, ``D`` numbers of a word vector.
"""

import importlib.util
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from mnemon.errors import UserError

ORDERS = (1, 2, 3, 4)
Text = tuple[int, ...]  # tokens


def require_scores() -> None:
    """Refuse to go on without the packages that scores need."""
    for package in ("nltk", "sacrebleu"):
        if importlib.util.find_spec(package) is None:
            raise UserError(f"answers in words are scored with {package}: pip install 'mnemon[text]'")


def sentence_bleu(answer: Text, right: Text) -> tuple[float, ...]:
    """BLEU-1 to 4 of one answer, by method 7; that of an empty answer is 0."""
    from nltk.translate import bleu_score  # of an extra, and slow to import

    if not answer:
        return (0.0,) * len(ORDERS)
    smooth = bleu_score.SmoothingFunction().method7
    return tuple(
        float(bleu_score.sentence_bleu([right], answer, weights=(1 / order,) * order, smoothing_function=smooth))
        for order in ORDERS
    )


def corpus_bleu(answers: Sequence[Text], rights: Sequence[Text]) -> tuple[float, ...]:
    """BLEU-1 to 4 of all answers together, from 0 to 1."""
    from sacrebleu.metrics.bleu import BLEU

    said, wanted = ([" ".join(map(str, text)) for text in texts] for texts in (answers, rights))
    scorers = [BLEU(max_ngram_order=order, tokenize="none", force=True) for order in ORDERS]
    return tuple(scorer.corpus_score(said, [wanted]).score / 100 for scorer in scorers)


def average_cosine(answer: Text, right: Text, vectors: Float[Tensor, "V D"], known: Bool[Tensor, "V"]) -> float:
    """A-GloVe; ``known`` are the tokens that have a vector."""
    found = [tokens[known[tokens]] for tokens in (torch.tensor(text, dtype=torch.int64) for text in (answer, right))]
    if not all(len(tokens) for tokens in found):
        return 0.0
    said, wanted = (vectors[tokens].mean(0) for tokens in found)
    return float(cosine_similarity(said, wanted, dim=0))


def distinct(answers: Sequence[Text], order: int) -> float:
    """The share of different n-grams; 0 where there are none."""
    grams = [text[first : first + order] for text in answers for first in range(len(text) - order + 1)]
    return len(set(grams)) / len(grams) if grams else 0.0
