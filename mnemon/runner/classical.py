"""A job whose model is fitted rather than trained step by step; it leaves the same files as one that is."""

from collections.abc import Mapping

from mnemon.ehr.baselines import ClassicalConfig, fit_baseline, measure_all
from mnemon.ehr.prediction import Prediction
from mnemon.errors import UserError
from mnemon.runner.at_once import Outcome, do_at_once
from mnemon.runner.messages import Assignment
from mnemon.tasks.base import Task
from mnemon.training.config import TrainConfig
from mnemon.training.directory import RunDirectory
from mnemon.training.progress import Progress


def fit_classical(
    config: ClassicalConfig,
    task: Task,
    tests: Mapping[str, Task],
    assignment: Assignment,
    training: TrainConfig,
    progress: Progress,
) -> None:
    """Fit, and measure on every test; of the training settings only the seed counts."""
    records = {name: test for name, test in tests.items() if isinstance(test, Prediction)}
    if not isinstance(task, Prediction) or "validation" not in records:
        raise UserError("a classical baseline needs health records with a validation split")

    def fit(_: RunDirectory) -> Outcome:
        baseline = fit_baseline(config, task, records["validation"], training.seed)
        return Outcome(-baseline.fitted.score, measure_all(baseline, records))

    do_at_once(fit, assignment, training=training.to_json(), tests=list(tests), progress=progress)
