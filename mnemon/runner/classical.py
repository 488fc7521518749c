"""A job whose model is fitted rather than trained step by step; it leaves the same files as one that is."""

import time
from collections.abc import Mapping
from pathlib import Path

from mnemon.ehr.baselines import ClassicalConfig, fit_baseline, measure_all
from mnemon.ehr.prediction import Prediction
from mnemon.errors import UserError
from mnemon.runner.messages import Assignment
from mnemon.runner.parameters import ParameterCounts
from mnemon.tasks.base import Task
from mnemon.training.config import TrainConfig
from mnemon.training.directory import RunDirectory
from mnemon.training.files import write_atomically
from mnemon.training.progress import Progress
from mnemon.training.record import Record
from mnemon.training.summary import TrainResult, write_summary


def fit_classical(
    config: ClassicalConfig,
    task: Task,
    tests: Mapping[str, Task],
    assignment: Assignment,
    training: TrainConfig,
    progress: Progress,
) -> None:
    """Fit, measure on every test, and write records and summary; of the training settings only the seed counts."""
    records = {name: test for name, test in tests.items() if isinstance(test, Prediction)}
    if not isinstance(task, Prediction) or "validation" not in records:
        raise UserError("a classical baseline needs health records with a validation split")
    directory = RunDirectory(Path(assignment.folder))
    described = {
        "training": training.to_json(),
        "tests": list(tests),
        "run": {
            "experiment": assignment.experiment,
            "scale": assignment.scale,
            "job": assignment.job,
            "parameters": ParameterCounts(0, 0)._asdict(),  # trees and vectors, not counted
        },
    }
    directory.claim(described)
    progress.start(0, 1)
    began = time.perf_counter()
    baseline = fit_baseline(config, task, records["validation"], training.seed)
    metrics = measure_all(baseline, records)
    rows = [
        Record(kind="eval", step=1, test=name, loss=-baseline.fitted.score, metrics=found)
        for name, found in metrics.items()
    ]
    write_atomically(directory.records, b"".join(row.to_line() for row in rows))
    for row in rows:
        progress.show(row)
    progress.stop()
    result = TrainResult(
        steps=1, loss=-baseline.fitted.score, metrics=metrics, parameters=0, checkpoint=directory.checkpoints
    )
    write_summary(
        directory.summary,
        config=described,
        result=result,
        seconds=time.perf_counter() - began,
        resumed_from=0,
        command=assignment.command,
    )
