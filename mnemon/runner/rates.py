"""Learning rates that a search has chosen (``mnemon sweep --search learning-rate``), and runs with them.

A comparison is fair where every model had its learning rate looked for, with the same effort, and on other seeds than
those that are reported. The record of a search, ``learning-rates.json``, has every trial:

    {"experiment": "copy-ntm", "scale": 1.0, "seed": 1000,
     "jobs": [{"setting": "copy", "model": "LSTM", "folder": "copy/lstm", "test": "length 10", "own": 1e-4,
               "chosen": 1e-3, "trials": [{"learning_rate": 1e-3, "steps": [1000, …], "losses": [0.69, …],
                                           "ended": "finished"}, …]}, …]}

where ``own`` is the rate that the experiment has without a search, ``losses`` are those of the test that is watched,
and a trial that ``ended`` otherwise was stopped early or failed.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemon.errors import UserError
from mnemon.report.description import RATES
from mnemon.runner.job import Experiment, Job
from mnemon.training.files import read_json, write_json

FORMAT = "mnemon learning rates"
VERSION = 1
FINISHED = "finished"
STOPPED = "stopped early"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A run with one learning rate: the steps at which it was measured, and the losses."""

    learning_rate: float
    steps: list[int]
    losses: list[float | None]  # None: not finite
    ended: str  # FINISHED, STOPPED, or why it failed


@dataclass(frozen=True, kw_only=True)
class Searched:
    """A job, what was tried for it, and what was chosen; None where no trial came to its end."""

    setting: str
    model: str
    folder: str
    test: str  # whose loss counts
    own: float
    chosen: float | None
    trials: list[Trial]


@dataclass(frozen=True, kw_only=True)
class Rates:
    """The record of a search."""

    experiment: str
    scale: float
    seed: int
    jobs: list[Searched]

    def write(self, folder: Path) -> None:
        """Write it into a folder."""
        write_json(folder / RATES, {"format": FORMAT, "version": VERSION, **dataclasses.asdict(self)})

    def applied_to(self, experiment: Experiment, seeds: int) -> Experiment:
        """The experiment with the rates that were chosen; jobs that were not searched keep their own."""
        if experiment.name != self.experiment:
            raise UserError(f"these learning rates are of {self.experiment}, not of {experiment.name}")
        if seeds > self.seed:
            raise UserError(f"seed {self.seed} was searched with: write --seeds {self.seed} or less")
        chosen = {job.folder: job.chosen for job in self.jobs if job.chosen is not None}
        return dataclasses.replace(
            experiment, jobs=lambda: [with_rate(job, chosen.get(job.folder)) for job in experiment.jobs()]
        )


def with_rate(job: Job, rate: float | None) -> Job:
    """The same job with another learning rate, if there is one."""
    if rate is None:
        return job
    return dataclasses.replace(job, training=dataclasses.replace(job.training, learning_rate=rate))


def choose(trials: list[Trial]) -> float | None:
    """The rate of the lowest last loss among the trials that came to their end."""
    ended = [(trial.losses[-1], trial.learning_rate) for trial in trials if trial.ended == FINISHED and trial.losses]
    return min(((loss, rate) for loss, rate in ended if loss is not None), default=(None, None))[1]


def read_rates(path: Path) -> Rates:
    """The record of a search, refusing whatever is none; a folder stands for the record in it."""
    path = path / RATES if path.is_dir() else path
    document = read_json(path)
    if document.pop("format", None) != FORMAT:
        raise UserError(f"{path} is not the record of a search: give the {RATES} that mnemon sweep --search wrote")
    if (version := document.pop("version", None)) != VERSION:
        raise UserError(f"{path} has version {version}; this mnemon reads version {VERSION}")
    try:
        return Rates(**{**document, "jobs": [_searched(job) for job in document["jobs"]]})
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}") from error


def _searched(document: dict[str, Any]) -> Searched:
    return Searched(**{**document, "trials": [Trial(**trial) for trial in document["trials"]]})
