"""Classical baselines as models of a table: trained on one split, chosen on another, measured on a third.

An example is a visit. A baseline sees its codes and no others, also where what comes next is asked for, which neural
models predict from all visits so far.
"""

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
        features, wanted = _examples(task)
        scores = self.fitted.scores(features)
        if not isinstance(task, SequencePrediction):
            return measured(scores, wanted)
        return sequence_metrics(top_outputs(scores, self.count), _answers(task), END)


def fit_baseline(config: ClassicalConfig, train: Prediction, valid: Prediction, seed: int) -> Baseline:
    """Train with every setting of the grid, and choose by the validation split."""
    sequences = isinstance(train, SequencePrediction)
    chosen_by = _examples(valid)
    fitted = fit(
        config.classifier,
        config.strategy,
        _examples(train),
        chosen_by,
        seed=seed,
        choose=by_jaccard if sequences else None,
    )
    if not sequences:
        return Baseline(fitted=fitted, count=0)
    return Baseline(fitted=fitted, count=choose_count(fitted.scores(chosen_by[0]), _answers(valid)))


def _examples(task: Prediction) -> tuple[Any, Bool[np.ndarray, "B L"]]:
    """Bags of codes, and labels."""
    visits = task.prepared.visits(task.split)
    return bags(task.prepared, visits, task.inputs), labels(task.prepared, visits)


def _answers(task: Prediction) -> list[list[int]]:
    """The codes to predict, in their order."""
    return [task.prepared.target(visit).tolist() for visit in task.prepared.visits(task.split).tolist()]


def measure_all(baseline: Baseline, tests: Mapping[str, Prediction]) -> dict[str, dict[str, float]]:
    """By test."""
    return {name: baseline.measure(test) for name, test in tests.items()}
