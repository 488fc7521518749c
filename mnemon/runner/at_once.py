"""Work that is done at once rather than step by step; it leaves the same files as training does."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mnemon.runner.messages import Assignment
from mnemon.runner.parameters import ParameterCounts
from mnemon.training.directory import RunDirectory
from mnemon.training.progress import Progress
from mnemon.training.record import Record, write_records
from mnemon.training.summary import TrainResult, write_summary


class Outcome(NamedTuple):
    """What the work came to."""

    loss: float
    metrics: dict[str, dict[str, float]]  # by test, then by name


def do_at_once(
    do: Callable[[RunDirectory], Outcome],
    assignment: Assignment,
    *,
    training: Mapping[str, Any],
    tests: Sequence[str],
    progress: Progress,
) -> None:
    """Claim the folder, do the work, and write records and summary; of ``training`` only the seed counts."""
    directory = RunDirectory(Path(assignment.folder))
    described = {
        "training": dict(training),
        "tests": list(tests),
        "run": {
            "experiment": assignment.experiment,
            "scale": assignment.scale,
            "job": assignment.job,
            "parameters": ParameterCounts(0, 0)._asdict(),  # nothing that a gradient reaches
        },
    }
    directory.claim(described)
    progress.start(0, 1)
    began = time.perf_counter()
    outcome = do(directory)
    rows = [
        Record(kind="eval", step=1, test=test, loss=outcome.loss, metrics=metrics)
        for test, metrics in outcome.metrics.items()
    ]
    write_records(directory.records, rows)
    for row in rows:
        progress.show(row)
    progress.stop()
    write_summary(
        directory.summary,
        config=described,
        result=TrainResult(
            steps=1, loss=outcome.loss, metrics=outcome.metrics, parameters=0, checkpoint=directory.checkpoints
        ),
        seconds=time.perf_counter() - began,
        resumed_from=0,
        command=assignment.command,
    )
