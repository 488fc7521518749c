"""A trial of a search: a worker with one learning rate, watched from evaluation to evaluation by Ray Tune."""

import math
import time
from pathlib import Path
from typing import Any

from ray import tune

from mnemon.runner.messages import GRACE_SECONDS, parse_assignment
from mnemon.runner.process import WorkerProcess
from mnemon.sweep.node import POLL_SECONDS
from mnemon.training.directory import RunDirectory
from mnemon.training.record import Record, read_records


def watched_rows(folder: Path, test: str) -> list[Record]:
    """What a run has measured so far on a test."""
    path = RunDirectory(folder).records
    return [record for record in read_records(path) if record.test == test] if path.exists() else []


class WatchedRun(tune.Trainable):
    """Each step of Tune is one evaluation of the run. One that is stopped saves first, and so can go on later."""

    def setup(self, config: dict[str, Any]) -> None:
        """Start the worker; ``config`` has the line that it reads, and the test to watch."""
        assignment = parse_assignment(config["line"].encode())
        self._folder, self._test = Path(assignment.folder), config["test"]
        self._steps = assignment.job["training"]["steps"]
        self._seen = 0
        self._worker = WorkerProcess()
        self._worker.give(assignment)

    def step(self) -> dict[str, Any]:
        """The loss at the next evaluation; after the last, when the run is complete."""
        while True:
            over = self._worker.finished or self._worker.ended  # before the rows: none comes later
            rows = watched_rows(self._folder, self._test)
            if len(rows) > self._seen:
                row = rows[self._seen]
                last = row.step == self._steps
                if over or not last:
                    self._seen += 1
                    return {"loss": _comparable(row.loss), "done": last}
            elif over:
                failed = None if self._worker.finished else self._worker.last_words()
                loss = rows[-1].loss if rows and failed is None else math.inf
                return {"loss": _comparable(loss), "done": True, "failed": failed}
            time.sleep(POLL_SECONDS)

    def cleanup(self) -> None:
        """Let the run save, and end it."""
        self._worker.stop(GRACE_SECONDS)


def _comparable(loss: float) -> float:
    """Tune leaves out a loss that is not a number; it is the worst there is."""
    return math.inf if math.isnan(loss) else loss
