import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mnemon.ehr.metrics import (
    auc_of_rows,
    cut,
    f1_of_rows,
    jaccard,
    levenshtein,
    precision,
    precision_at,
    sequence_metrics,
    set_metrics,
)
from mnemon.errors import UserError

ROWS = st.lists(st.integers(0, 6), max_size=7)
PAIRS = st.integers(1, 6).flatmap(lambda size: st.tuples(*[st.lists(ROWS, min_size=size, max_size=size)] * 2))


def distance(one: list[int], two: list[int]) -> int:
    """The number of changes, by the table of all beginnings."""
    table = [[max(i, j) if min(i, j) == 0 else 0 for j in range(len(two) + 1)] for i in range(len(one) + 1)]
    for i, a in enumerate(one, start=1):
        for j, b in enumerate(two, start=1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a != b))
    return table[-1][-1]


def auc_by_pairs(scores: list[float], labels: list[bool]) -> float:
    pairs = [
        (scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j])
        for i in range(len(labels))
        for j in range(len(labels))
        if labels[i] and not labels[j]
    ]
    return sum(pairs) / len(pairs) if pairs else float("nan")


def test_precision_and_jaccard_by_hand() -> None:
    predicted, true = [[1, 2, 2], [5], [], []], [[2, 3], [5], [1], []]
    assert precision(predicted, true) == pytest.approx((1 / 2 + 1 + 0 + 1) / 4)
    assert jaccard(predicted, true) == pytest.approx((1 / 3 + 1 + 0 + 1) / 4)


@settings(deadline=None)
@given(PAIRS)
def test_sequences_against_loops(pair: tuple[list[list[int]], list[list[int]]]) -> None:
    predicted, true = pair
    rows = list(zip(predicted, true, strict=True))
    longest = [max(len(a), len(b), 1) for a, b in rows]
    wanted = [distance(a, b) / size for (a, b), size in zip(rows, longest, strict=True)]
    assert levenshtein(predicted, true) == pytest.approx(sum(wanted) / len(wanted))
    as_tensors = [torch.tensor(row, dtype=torch.long) for row in predicted]
    for measure in (precision, jaccard, levenshtein):
        value = measure(predicted, true)
        assert 0 <= value <= 1
        assert measure(as_tensors, [np.array(row, dtype=int) for row in true]) == value
        assert measure(true, true) == (0 if measure is levenshtein else 1)
    assert jaccard(predicted, true) == jaccard(true, predicted)
    assert jaccard(predicted, true) <= precision(predicted, true) + 1e-12 or any(not row for row in predicted)


def test_sequences_are_cut_at_their_end() -> None:
    assert cut([4, 5, 2, 6, 2], 2) == [4, 5]
    assert cut(torch.tensor([2, 4]), 2) == []
    assert cut([4, 5], 2) == [4, 5]
    found = sequence_metrics([torch.tensor([4, 5, 2, 9])], [[4, 5, 2]], end=2)
    assert found == {"precision": 1.0, "jaccard": 1.0, "levenshtein": 0.0}
    assert sequence_metrics([[5, 4, 2]], [[4, 5]], end=2)["levenshtein"] == 1.0
    with pytest.raises(UserError, match="there is no admission to measure"):
        precision([], [])


# few different scores, so that there are ties
SOME = st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0])
SCORES = arrays.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=SOME)


@settings(deadline=None)
@given(SCORES, st.data())
def test_sets_against_loops(scores: np.ndarray, data: st.DataObject) -> None:
    labels = data.draw(arrays.arrays(np.bool_, scores.shape))
    auc = auc_of_rows(scores, labels)
    pairs = [auc_by_pairs(*row) for row in zip(scores.tolist(), labels.tolist(), strict=True)]
    assert auc == pytest.approx(pairs, nan_ok=True)
    guesses = scores > 0.5
    both = [(set(np.flatnonzero(a)), set(np.flatnonzero(b))) for a, b in zip(guesses, labels, strict=True)]
    wanted = [2 * len(a & b) / (len(a) + len(b)) if a or b else float("nan") for a, b in both]
    assert f1_of_rows(guesses, labels) == pytest.approx(wanted, nan_ok=True)
    found = set_metrics(scores, labels)
    assert set_metrics(torch.tensor(scores), torch.tensor(labels)) == found
    columns = [auc_by_pairs(*column) for column in zip(scores.T.tolist(), labels.T.tolist(), strict=True)]
    defined = [value for value in columns if value == value]
    assert found["auc_macro"] == (pytest.approx(sum(defined) / len(defined)) if defined else None)
    micro = auc_by_pairs(scores.ravel().tolist(), labels.ravel().tolist())
    assert found["auc_micro"] == (pytest.approx(micro) if micro == micro else None)
    assert found["labels_without_positives"] == sum(not column.any() for column in labels.T)
    assert found["labels_without_negatives"] == sum(bool(column.all()) for column in labels.T)
    for name, value in found.items():
        if name.startswith(("auc", "f1", "p@")) and value is not None:
            assert 0 <= value <= 1


@settings(deadline=None)
@given(SCORES, st.data())
def test_precision_at_against_a_loop(scores: np.ndarray, data: st.DataObject) -> None:
    labels = data.draw(arrays.arrays(np.bool_, scores.shape))
    count = data.draw(st.integers(1, scores.shape[1]))
    hits = []
    for score, label in zip(scores.tolist(), labels.tolist(), strict=True):
        best = sorted(range(len(score)), key=lambda place: (-score[place], place))[:count]
        hits.append(sum(label[place] for place in best) / count)
    assert precision_at(scores, labels, count) == pytest.approx(sum(hits) / len(hits))


def test_ties_all_positives_and_none() -> None:
    scores = np.array([[0.5, 0.5, 0.5], [0.1, 0.2, 0.3], [0.9, 0.8, 0.7]])
    labels = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    found = set_metrics(scores, labels, cuts=(1, 2, 5))
    assert found["auc_per_sample"] == 0.5
    assert (found["samples_without_auc"], found["samples"], found["labels"]) == (2, 3, 3)
    assert "p@5" not in found
    assert found["p@1"] == pytest.approx(2 / 3)
    nothing = set_metrics(scores * 0, labels * 0)
    assert nothing["auc_macro"] is None
    assert nothing["f1_per_sample"] is None
    assert nothing["labels_without_positives"] == 3
    assert nothing["labels_without_f1"] == 3


def test_a_label_without_positives_is_not_half_right() -> None:
    scores = np.array([[0.9, 0.1], [0.1, 0.9]])
    labels = np.array([[True, False], [False, False]])
    found = set_metrics(scores, labels)
    assert found["auc_macro"] == 1.0
    assert found["labels_without_positives"] == 1
    assert found["f1_macro"] == 0.5  # the second label was predicted once, wrongly


def test_sets_agree_with_scikit_learn() -> None:
    from sklearn.metrics import f1_score, roc_auc_score

    random = np.random.default_rng(0)
    labels = random.random((40, 7)) < 0.4
    scores = np.round(random.random((40, 7)) + 0.3 * labels, 1) / 1.3
    found = set_metrics(scores, labels)
    for name, average in (("macro", "macro"), ("micro", "micro"), ("per_sample", "samples")):
        rows = labels.any(1) & ~labels.all(1) if name == "per_sample" else np.ones(40, bool)
        assert found[f"auc_{name}"] == pytest.approx(roc_auc_score(labels[rows], scores[rows], average=average))
        either = labels.any(1) | (scores > 0.5).any(1) if name == "per_sample" else rows
        wanted = f1_score(labels[either], scores[either] > 0.5, average=average, zero_division=0)
        assert found[f"f1_{name}"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("scores", "labels", "problem"),
    [
        ([[0.1, 0.2]], [[1]], "must be alike: a row for each admission"),
        ([[float("nan")]], [[1]], "scores must be finite"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "must be alike"),
    ],
)
def test_bad_scores(scores: object, labels: object, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        set_metrics(np.array(scores), np.array(labels))


def test_precision_at_more_than_there_is() -> None:
    with pytest.raises(UserError, match="precision at 3 needs as many labels, there are 2"):
        precision_at(np.zeros((1, 2)), np.zeros((1, 2)), 3)
