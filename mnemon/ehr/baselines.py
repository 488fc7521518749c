"""Classical baselines as models of a table: trained on one split, chosen on another, measured on a third."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from mnemon.ehr.classical import (
    Fitted,
    bags,
    by_jaccard,
    check_names,
    choose_count,
    fit,
    labels,
    top_outputs,
)
from mnemon.ehr.metrics import sequence_metrics
from mnemon.ehr.prediction import Prediction, SequencePrediction, measured
from mnemon.ehr.vocabulary import END
from mnemon.errors import UserError


@dataclass(frozen=True, kw_only=True)
class ClassicalConfig:
    """Which classifier, and how it is made to give several labels."""

    classifier: str
    strategy: str = "binary-relevance"

    def __post_init__(self) -> None:
        check_names(self.classifier, self.strategy)


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A fitted classifier; of a sequence it predicts the ``count`` likeliest codes, without their order."""

    fitted: Fitted
    count: int

    def measure(self, task: Prediction) -> dict[str, float]:
        """The metrics that the task has for neural models."""
        prepared, rows = task.prepared, task.rows
        scores = self.fitted.scores(bags(prepared, rows, task.inputs))
        if not isinstance(task, SequencePrediction):
            return measured(scores, labels(prepared, rows))
        right = [prepared.target(visit).tolist() for visit in rows.tolist()]
        return sequence_metrics(top_outputs(scores, self.count), right, END)


def fit_baseline(config: ClassicalConfig, train: Prediction, valid: Prediction, seed: int) -> Baseline:
    """Train with every setting of the grid, and choose by the validation split."""
    if train.prepared.task.next_visit:
        raise UserError("the classical baselines see one visit: write another model for what comes next")
    sequences = isinstance(train, SequencePrediction)
    fitted = fit(
        config.classifier,
        config.strategy,
        _examples(train),
        _examples(valid),
        seed=seed,
        choose=by_jaccard if sequences else None,
    )
    if not sequences:
        return Baseline(fitted=fitted, count=0)
    scores = fitted.scores(bags(valid.prepared, valid.rows, valid.inputs))
    right = [valid.prepared.target(visit).tolist() for visit in valid.rows.tolist()]
    return Baseline(fitted=fitted, count=choose_count(scores, right))


def _examples(task: Prediction) -> tuple[Any, Bool[np.ndarray, "B L"]]:
    """Bags of codes, and labels."""
    return bags(task.prepared, task.rows, task.inputs), labels(task.prepared, task.rows)


def measure_all(baseline: Baseline, tests: Mapping[str, Prediction]) -> dict[str, dict[str, float]]:
    """By test."""
    return {name: baseline.measure(test) for name, test in tests.items()}
