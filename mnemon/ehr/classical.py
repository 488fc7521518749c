"""Classical baselines: a bag of codes, and one classifier for each label or a chain of them (thesis, 4.5.2 and 4.5.4).

A view of an admission is the sum of the one-hot vectors of its codes; views are put side by side. Binary relevance
trains a classifier for each label by itself; a chain gives each also the labels before it; a joint forest grows its
trees for all labels at once, which takes a tenth of the time where there are a thousand of them. The settings of a
classifier are those of a small grid that do best on the validation split. Sequences are predicted by picking the top
outputs, whose number is chosen on the validation split too. The classifier ``frequency`` looks at no features: it says
how frequent each label was in training, whoever is asked about, which a model must beat to have learnt anything.

Letters: ``B`` admissions, ``F`` features, ``L`` labels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int
from torch import Tensor

from mnemon.ehr.extra import require_extra
from mnemon.ehr.metrics import auc_of_rows, jaccard
from mnemon.ehr.prepared import Prepared
from mnemon.ehr.vocabulary import FIRST_CODE
from mnemon.errors import UserError, look_up

Choice = Callable[[Float64[np.ndarray, "B L"], Bool[np.ndarray, "B L"]], float]

GRIDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "logistic-regression": {"C": (0.01, 0.1, 1.0)},
    "random-forest": {"max_depth": (None, 20), "min_samples_leaf": (1, 5)},
    "svm": {"C": (0.01, 0.1, 1.0)},
    "frequency": {},
}
STRATEGIES = ("binary-relevance", "classifier-chain", "joint")


@dataclass(frozen=True)
class Fitted:
    """A trained baseline."""

    classifier: str
    settings: Mapping[str, Any]  # those of the grid that did best
    score: float  # on the validation split
    model: Any
    constant: Float64[np.ndarray, "L"]  # NaN where a label varied in training, else the value it always had

    def scores(self, features: Any) -> Float64[np.ndarray, "B L"]:
        """A score between 0 and 1 for each label; a label that never varied has the value it always had."""
        found = np.tile(self.constant, (features.shape[0], 1))
        if self.model is not None:
            found[:, np.isnan(self.constant)] = _probabilities(self.classifier, self.model, features)
        return found


def bags(prepared: Prepared, visits: Int[Tensor, "B"], views: Sequence[str] | None = None) -> Any:
    """How often each visit has each code, as a sparse matrix (B, F) of scipy; unknown codes count as one code."""
    require_extra("sklearn", "a classical baseline")
    from scipy.sparse import csr_matrix, hstack

    chosen = prepared.task.inputs if views is None else tuple(views)
    for view in chosen:
        look_up(dict.fromkeys(prepared.task.inputs), view, "view of the input")
    parts = []
    for view in chosen:
        codes = prepared.views[view]
        rows = [codes.of(visit).numpy() for visit in visits.tolist()]
        columns = np.concatenate(rows) if rows else np.empty(0, np.int32)
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        counts = csr_matrix(
            (np.ones(len(columns), np.float32), columns, starts),
            shape=(len(rows), len(prepared.vocabularies[view])),
        )
        counts.sum_duplicates()
        parts.append(counts)
    return hstack(parts, format="csr")


def labels(prepared: Prepared, visits: Int[Tensor, "B"]) -> Bool[np.ndarray, "B L"]:
    """Which codes of the target each visit has."""
    return prepared.label_rows(visits).numpy().astype(bool)


def check_names(classifier: str, strategy: str) -> None:
    """Refuse what is no classifier or no strategy, and a strategy that the classifier does not know."""
    look_up(GRIDS, classifier, "classifier")
    look_up(dict.fromkeys(STRATEGIES), strategy, "strategy")
    if strategy == "joint" and classifier != "random-forest":
        raise UserError(f"{classifier} has one label at a time: write strategy='binary-relevance'")


def fit(
    classifier: str,
    strategy: str,
    train: tuple[Any, Bool[np.ndarray, "B L"]],
    valid: tuple[Any, Bool[np.ndarray, "V L"]],
    seed: int = 0,
    choose: Choice | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
) -> Fitted:
    """Train with each setting of the grid, and keep the one that ``choose`` likes best on the validation split.

    ``train`` and ``valid`` are features and labels; by default the area under all ROC curves at once decides.
    """
    require_extra("sklearn", "a classical baseline")
    check_names(classifier, strategy)
    known = GRIDS[classifier]
    features, wanted = train
    if features.shape[0] == 0 or valid[0].shape[0] == 0:
        raise UserError("a baseline needs admissions to train on and to choose by")
    constant = np.where(wanted.all(0), 1.0, np.where(wanted.any(0), np.nan, 0.0))
    varied = np.isnan(constant)
    judge = micro_auc if choose is None else choose
    best: Fitted | None = None
    settings = known if grid is None else grid
    for values in product(*settings.values()):
        tried = dict(zip(settings, values, strict=True))
        model = None
        if varied.any():
            alone = int(varied.sum()) == 1  # a chain of one label, which needs no rest to stand against
            model = _build(classifier, "classifier-chain" if alone else strategy, tried, seed)
            model.fit(features, wanted[:, varied].astype(np.int64))
        fitted = Fitted(classifier, tried, 0.0, model, constant)
        score = judge(fitted.scores(valid[0]), valid[1])
        if best is None or score > best.score:
            best = Fitted(classifier, tried, score, model, constant)
    assert best is not None
    return best


def micro_auc(scores: Float64[np.ndarray, "B L"], wanted: Bool[np.ndarray, "B L"]) -> float:
    """The area under the ROC curve of all pairs of an admission and a label; ½ where it is not defined."""
    return float(np.nan_to_num(auc_of_rows(scores.reshape(1, -1), wanted.reshape(1, -1)), nan=0.5)[0])


def top_outputs(scores: Float64[np.ndarray, "B L"], count: int) -> list[list[int]]:
    """The tokens of the highest scores, the highest first; of equal ones the more frequent code comes first."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :count] + FIRST_CODE
    return [[int(token) for token in row] for row in best]


def choose_count(scores: Float64[np.ndarray, "B L"], true: Sequence[Sequence[int]]) -> int:
    """How many of the top outputs to pick: the number with the highest Jaccard, no more than a true sequence has."""
    most = min(scores.shape[1], max((len(set(codes)) for codes in true), default=1))
    ranked = top_outputs(scores, most)
    found = {count: jaccard([row[:count] for row in ranked], true) for count in range(1, most + 1)}
    return max(found, key=lambda count: (found[count], -count))


def by_jaccard(scores: Float64[np.ndarray, "B L"], wanted: Bool[np.ndarray, "B L"]) -> float:
    """For the grid search of sequences: Jaccard of the top outputs, as many as do best."""
    true = [[int(label) + FIRST_CODE for label in np.flatnonzero(row)] for row in wanted]
    return jaccard(top_outputs(scores, choose_count(scores, true)), true)


def _build(classifier: str, strategy: str, settings: Mapping[str, Any], seed: int) -> Any:
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import ClassifierChain
    from sklearn.svm import LinearSVC

    if classifier == "random-forest":
        single = RandomForestClassifier(n_estimators=100, random_state=seed, n_jobs=1, **settings)
    elif classifier == "svm":
        single = LinearSVC(random_state=seed, max_iter=10_000, **settings)
    elif classifier == "frequency":
        single = DummyClassifier(strategy="prior")
    else:
        single = LogisticRegression(solver="liblinear", random_state=seed, max_iter=1000, **settings)
    if strategy == "joint":
        return single
    if strategy == "classifier-chain":
        return ClassifierChain(single, order="random", random_state=seed)
    return OneVsRestClassifier(single)


def _probabilities(classifier: str, model: Any, features: Any) -> Float64[np.ndarray, "B L"]:
    """Probabilities, or where a classifier has none, the logistic function of its distances."""
    if classifier != "svm":
        odds = model.predict_proba(features)
        if isinstance(odds, list):  # of a joint forest: for each label, that it is not there and that it is
            odds = np.stack([each[:, 1] for each in odds], axis=1)
        return np.asarray(odds, dtype=np.float64)
    distances = np.asarray(model.decision_function(features), dtype=np.float64)
    return 1 / (1 + np.exp(-np.clip(distances.reshape(features.shape[0], -1), -500, 500)))
