"""How good predicted codes are (thesis, sections 4.5.2 and 4.5.4).

Of sequences: precision and Jaccard of the sets of codes, averaged over admissions, and the normalised Levenshtein
distance. Of sets: the area under the ROC curve (AUC) and F1, each averaged in three ways, and precision at k.

- ``per_sample``: over the labels of an admission, then averaged over admissions; what the authors' program computes;
- ``macro``: over the admissions of a label, then averaged over labels; what the thesis says;
- ``micro``: over all pairs of an admission and a label at once.

Where a number is not defined (AUC without a positive or without a negative, F1 with neither a label nor a prediction)
it is left out of the average, and counted.

Letters: ``B`` admissions, ``L`` labels, ``P`` positives, ``N`` scores.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from mnemon.ehr.extra import require_extra
from mnemon.errors import UserError
from mnemon.tasks.exchanges import normalised_distance

Codes = Collection[int] | Tensor | np.ndarray
CUTS = (1, 2, 5)  # the thesis's k
FEW = 8  # positives, for which counting takes less time than sorting


def precision(predicted: Iterable[Codes], true: Iterable[Codes]) -> float:
    """Mean of |true ∩ predicted| / |predicted|. Who predicts nothing is right only where there is nothing."""
    return _mean(
        len(set(guess) & set(answer)) / len(set(guess)) if guess else float(not answer)
        for guess, answer in zip(_lists(predicted), _lists(true), strict=True)
    )


def jaccard(predicted: Iterable[Codes], true: Iterable[Codes]) -> float:
    """Mean of |true ∩ predicted| / |true ∪ predicted|; two empty sets are alike."""
    return _mean(
        len(set(guess) & set(answer)) / len(set(guess) | set(answer)) if guess or answer else 1.0
        for guess, answer in zip(_lists(predicted), _lists(true), strict=True)
    )


def levenshtein(predicted: Iterable[Codes], true: Iterable[Codes]) -> float:
    """Mean number of changes that make one sequence the other, over the longer length; two empty ones are alike."""
    require_extra("rapidfuzz", "the Levenshtein distance")
    return _mean(
        normalised_distance(guess, answer) for guess, answer in zip(_lists(predicted), _lists(true), strict=True)
    )


def cut(sequence: Sequence[int] | Tensor, end: int) -> list[int]:
    """What comes before the end of a sequence, or all of it if it has none."""
    tokens = _list(sequence)
    return tokens[: tokens.index(end)] if end in tokens else tokens


def sequence_metrics(predicted: Iterable[Codes], true: Iterable[Codes], end: int) -> dict[str, float]:
    """The measures of sequences, each cut at its end."""
    guesses, answers = [[cut(codes, end) for codes in _lists(side)] for side in (predicted, true)]
    return {
        "precision": precision(guesses, answers),
        "jaccard": jaccard(guesses, answers),
        "levenshtein": levenshtein(guesses, answers),
    }


def set_metrics(
    scores: Float[np.ndarray | Tensor, "B L"],
    labels: Any,
    threshold: float = 0.5,
    cuts: Sequence[int] = CUTS,
) -> dict[str, float | int | None]:
    """The measures of sets: ``auc_*``, ``f1_*`` (of scores above the threshold), ``p@k``, and what was left out.

    A measure that is defined nowhere is None.
    """
    score, label = _arrays(scores, labels)
    turned = np.ascontiguousarray(score.T)  # its rows are sorted
    rows, columns = auc_of_rows(score, label), auc_of_rows(turned, label.T)
    guess = score > threshold
    fitting = [count for count in cuts if count <= score.shape[1]]
    f1_rows, f1_columns = f1_of_rows(guess, label), f1_of_rows(guess.T, label.T)
    return {
        "auc_per_sample": _mean_defined(rows),
        "auc_macro": _mean_defined(columns),
        "auc_micro": _mean_defined(auc_of_rows(score.reshape(1, -1), label.reshape(1, -1))),
        "f1_per_sample": _mean_defined(f1_rows),
        "f1_macro": _mean_defined(f1_columns),
        "f1_micro": _mean_defined(f1_of_rows(guess.reshape(1, -1), label.reshape(1, -1))),
        **{f"p@{count}": share for count, share in _precisions_at(score, label, fitting).items()},
        "samples": len(label),
        "labels": label.shape[1],
        "labels_without_positives": int((~label.any(0)).sum()),
        "labels_without_negatives": int(label.all(0).sum()),
        "samples_without_auc": int(np.isnan(rows).sum()),
        "samples_without_f1": int(np.isnan(f1_rows).sum()),
        "labels_without_f1": int(np.isnan(f1_columns).sum()),
    }


def auc_of_rows(scores: Float[np.ndarray, "B L"], labels: Bool[np.ndarray, "B L"]) -> Float64[np.ndarray, "B"]:
    """For each row the chance that a positive scores above a negative, ties counting half; NaN without both."""
    found = np.full(len(scores), np.nan)
    for row, (score, label) in enumerate(zip(scores, labels, strict=True)):
        wanted = score[label]
        positives, negatives = len(wanted), len(label) - len(wanted)
        if positives and negatives:
            passed = _passed(score, wanted) - positives**2  # positives pass one another too
            found[row] = passed / (2 * positives * negatives)
    return found


def _passed(scores: Float[np.ndarray, "L"], wanted: Float[np.ndarray, "P"]) -> int:
    """How many scores those that are wanted pass, twice; equal ones count once."""
    if len(wanted) <= FEW:
        return sum(int(np.count_nonzero(scores < each) + np.count_nonzero(scores <= each)) for each in wanted)
    ordered = np.sort(scores)
    return int((np.searchsorted(ordered, wanted, "left") + np.searchsorted(ordered, wanted, "right")).sum())


def f1_of_rows(guesses: Bool[np.ndarray, "B L"], labels: Bool[np.ndarray, "B L"]) -> Float64[np.ndarray, "B"]:
    """For each row 2 |true ∩ predicted| / (|true| + |predicted|); NaN where both are empty."""
    sizes = guesses.sum(1) + labels.sum(1)
    common = (guesses & labels).sum(1)
    shares = np.full(len(sizes), np.nan)
    np.divide(2.0 * common, sizes, out=shares, where=sizes > 0)
    return shares


def precision_at(scores: Float[np.ndarray | Tensor, "B L"], labels: Any, count: int) -> float:
    """Mean share of right ones among the labels of the highest scores; of equal scores the first label comes first."""
    score, label = _arrays(scores, labels)
    if not 1 <= count <= score.shape[1]:
        raise UserError(f"precision at {count} needs as many labels, there are {score.shape[1]}")
    return _precisions_at(score, label, [count])[count]


def _precisions_at(
    scores: Float[np.ndarray, "B L"], labels: Bool[np.ndarray, "B L"], counts: Sequence[int]
) -> dict[int, float]:
    if not counts:
        return {}
    ordered = np.partition(scores, [-count for count in counts], axis=1)
    rows, columns = np.nonzero(labels)
    positive, found = scores[rows, columns], {}
    for count in counts:
        least = ordered[:, -count]  # that is still among the highest
        right = positive >= least[rows]
        several = (
            np.count_nonzero(scores >= least[:, None], axis=1) > count
        )  # are as high, so that not all of them count
        unsure = right & (positive == least[rows]) & several[rows]
        with_ties = np.unique(rows[unsure])
        of_ties = _right_ties(scores[with_ties], labels[with_ties], least[with_ties], count)
        found[count] = (int((right & ~unsure).sum()) + of_ties) / (count * len(scores))
    return found


def _right_ties(
    scores: Float[np.ndarray, "B L"], labels: Bool[np.ndarray, "B L"], least: Float[np.ndarray, "B"], count: int
) -> int:
    """How many are right of the first labels that score the least, as many as there are places left for them."""
    places = count - (scores > least[:, None]).sum(1, keepdims=True)
    level = scores == least[:, None]
    return int((labels & level & (np.cumsum(level, axis=1, dtype=np.int32) <= places)).sum())


def _arrays(scores: Any, labels: Any) -> tuple[Float[np.ndarray, "B L"], Bool[np.ndarray, "B L"]]:
    """Checked, as numpy's."""
    score, label = _array(scores), _array(labels)
    if score.ndim != 2 or score.shape != label.shape or 0 in score.shape:
        raise UserError(f"scores {score.shape} and labels {label.shape} must be alike: a row for each admission")
    if not np.isfinite(score).all():
        raise UserError("scores must be finite: the model gave NaN or infinity")
    return score, label.astype(bool)


def _array(side: Any) -> np.ndarray:
    return side.detach().cpu().numpy() if isinstance(side, Tensor) else np.asarray(side)


def _lists(side: Iterable[Codes]) -> list[list[int]]:
    return [_list(codes) for codes in side]


def _list(codes: Any) -> list[int]:
    """Plain numbers: rapidfuzz and sets take tensors without complaint, and compare them wrongly."""
    found: list[int] = codes.tolist() if isinstance(codes, Tensor | np.ndarray) else [int(code) for code in codes]
    return found


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    if not found:
        raise UserError("there is no admission to measure")
    return sum(found) / len(found)


def _mean_defined(values: Float64[np.ndarray, "N"]) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
