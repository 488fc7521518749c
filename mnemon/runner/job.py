"""A job is one model trained in one setting; an experiment is the jobs of a table or figure.

A job holds whole configs and nothing else, so that it goes to a worker process, and into a run's folder, as JSON.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemon.ehr.baselines import ClassicalConfig
from mnemon.errors import look_up
from mnemon.models.config import ModelConfig
from mnemon.report.description import Better, Description, RowDescription, Shown
from mnemon.runner.sources import DataTask, settings_from_json, task_from_json, task_to_json
from mnemon.runner.work import Work
from mnemon.tasks.base import Task
from mnemon.training.config import TrainConfig
from mnemon.training.directory import RunDirectory

# A shortened run measures more often, but no oftener than a curve needs and its time allows.
SHORTEST_LOG = 10
SHORTEST_EVALUATION = 100
SHORTEST_EVALUATION_OF_DATA = 1_000  # which goes through whole data sets


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One number of a run, for a row of the table."""

    setting: str
    thesis: float | None = None
    test: str | None = None  # None: the job's
    metric: str | None = None  # None: the experiment's
    percent: bool | None = None  # None: as the experiment's
    at: float | None = None  # the share of the steps after which it is measured; None: at the end
    traced: bool = False  # a measure of the trace rather than of a test
    chosen_by: str | None = None  # measured where the loss of this test was lowest, as early stopping does


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to train on what, and what the thesis says comes of it. ``test`` names the test that counts."""

    setting: str
    model: str  # as the thesis's table calls it
    task: Task | DataTask
    tests: Mapping[str, Task]  # none for a DataTask, which brings its own
    test: str
    config: ModelConfig
    training: TrainConfig
    thesis: float | None = None
    thesis_parameters: int | None = None
    trace: bool = False  # leave what the memory did with one sequence, for heat maps
    classical: ClassicalConfig | None = None  # a baseline in place of the model, which then plays no part
    readings: Sequence[Reading] = ()  # the rows that it fills; none: one, with the job's own setting and value

    def __post_init__(self) -> None:
        if not isinstance(self.task, DataTask):
            look_up(self.tests, self.test, "test")

    @property
    def folder(self) -> str:
        """Where its runs are, under jobs/."""
        return job_folder(self.setting, self.model)

    @property
    def seed(self) -> int:
        """Of the run."""
        return self.training.seed

    @property
    def needs_data(self) -> bool:
        """Whether it reads a data set."""
        return isinstance(self.task, DataTask)

    def for_run(self, seed: int, scale: float) -> "Job":
        """The same job with a seed, and its training shortened to ``scale``."""
        training = self.training
        shortest = SHORTEST_EVALUATION_OF_DATA if isinstance(self.task, DataTask) else SHORTEST_EVALUATION
        shortened = dataclasses.replace(
            training,
            seed=seed,
            steps=max(1, round(training.steps * scale)),
            log_every=_shorten(training.log_every, scale, SHORTEST_LOG),
            eval_every=_shorten(training.eval_every, scale, shortest),
            auxiliary_warmup=_scaled(training.auxiliary_warmup, scale),
            auxiliary_cycle=_scaled(training.auxiliary_cycle, scale),
            auxiliary_epoch=_scaled(training.auxiliary_epoch, scale),
        )
        return dataclasses.replace(self, training=shortened)

    def open(self, data: Path | None) -> tuple[Task, Mapping[str, Task]]:
        """The task and the tests, read from the folder ``data`` where they need data."""
        return self.task.open(data) if isinstance(self.task, DataTask) else (self.task, self.tests)

    def is_finished(self, directory: RunDirectory) -> bool:
        """Whether all that it leaves is in the folder of a run."""
        return directory.summary.exists() and (not self.trace or directory.traces.exists())

    def rows(self) -> list[RowDescription]:
        """The rows of the table that it fills."""
        return rows_of(
            self.readings or [Reading(setting=self.setting, thesis=self.thesis)],
            model=self.model,
            folder=self.folder,
            test=self.test,
            thesis_parameters=self.thesis_parameters,
        )

    def to_json(self) -> dict[str, Any]:
        """All that decides what a run does; what the thesis says of it does not."""
        return {
            "setting": self.setting,
            "model": self.model,
            "task": task_to_json(self.task),
            "tests": {label: task_to_json(task) for label, task in self.tests.items()},
            "test": self.test,
            "config": dataclasses.asdict(self.config),
            "training": self.training.to_json(),
            "trace": self.trace,
            **({} if self.classical is None else {"classical": dataclasses.asdict(self.classical)}),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Job":
        """The inverse of :meth:`to_json`. A setting that did not exist when it was written has its default."""
        return cls(
            setting=document["setting"],
            model=document["model"],
            task=task_from_json(document["task"]),
            tests=_tests_from_json(document["tests"]),
            test=document["test"],
            config=settings_from_json(ModelConfig, document["config"]),
            classical=_classical_from_json(document.get("classical")),
            training=settings_from_json(TrainConfig, document["training"]),
            trace=document["trace"],
        )


@dataclass(frozen=True, kw_only=True)
class Literature:
    """A row that the thesis quotes from others; it is shown, not run."""

    setting: str
    model: str
    thesis: float


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of the thesis: models to train, laws to measure, or both."""

    name: str
    title: str
    thesis: str  # where the thesis has it
    file: str
    jobs: Callable[[], list[Job]] = list
    measurements: Callable[[], Sequence[Work]] = list
    metric: str = "accuracy"
    percent: bool = True
    better: Better = "higher"
    aggregate: str = "one value a row"  # how the thesis came to its values
    literature: Sequence[Literature] = ()
    shows: Shown = "memory"

    @property
    def summary(self) -> str:
        """What a list of experiments says of it."""
        return self.title

    def work(self) -> list[Work]:
        """All that it runs."""
        return [*self.jobs(), *self.measurements()]

    def describe(self, scale: float) -> Description:
        """What a reader of its results needs to know."""
        quoted = [
            RowDescription(
                setting=row.setting, model=row.model, folder=None, test=None, thesis=row.thesis, thesis_parameters=None
            )
            for row in self.literature
        ]
        ours = [row for work in self.work() for row in work.rows()]
        order = list(dict.fromkeys(row.setting for row in [*ours, *quoted]))
        return Description(
            experiment=self.name,
            title=self.title,
            thesis=self.thesis,
            metric=self.metric,
            percent=self.percent,
            better=self.better,
            aggregate=self.aggregate,
            scale=scale,
            shows=self.shows,
            rows=sorted([*quoted, *ours], key=lambda row: order.index(row.setting)),
        )


def _classical_from_json(document: Mapping[str, Any] | None) -> ClassicalConfig | None:
    return None if document is None else settings_from_json(ClassicalConfig, document)


def job_folder(setting: str, model: str) -> str:
    """Where the runs of a job are, under jobs/."""
    return f"{_slug(setting)}/{_slug(model)}"


def rows_of(
    readings: Sequence[Reading], *, model: str, folder: str, test: str, thesis_parameters: int | None
) -> list[RowDescription]:
    """A row for each reading; ``test`` is that of those which name none."""
    return [
        RowDescription(
            setting=reading.setting,
            model=model,
            folder=folder,
            test=test if reading.test is None else reading.test,
            thesis=reading.thesis,
            thesis_parameters=thesis_parameters,
            metric=reading.metric,
            percent=reading.percent,
            at=reading.at,
            traced=reading.traced,
            chosen_by=reading.chosen_by,
        )
        for reading in readings
    ]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _tests_from_json(document: Mapping[str, Any]) -> dict[str, Task]:
    tests = {label: task_from_json(task) for label, task in document.items()}
    return {label: task for label, task in tests.items() if not isinstance(task, DataTask)}


def _scaled(steps: int | None, scale: float) -> int | None:
    return None if steps is None else max(1, round(steps * scale))


def _shorten(every: int, scale: float, shortest: int) -> int:
    return min(every, max(round(every * scale), shortest))
