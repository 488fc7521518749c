"""A job is one model trained in one setting; an experiment is the jobs of a table or figure.

A job holds whole configs and nothing else, so that it goes to a worker process, and into a run's folder, as JSON.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mnemon.errors import UserError, look_up
from mnemon.models.catalogue import ModelConfig
from mnemon.report.description import Better, Description, RowDescription
from mnemon.tasks.base import Task
from mnemon.tasks.catalogue import TASKS
from mnemon.training.config import TrainConfig

Settings = TypeVar("Settings")

# A shortened run measures more often, but no oftener than a curve needs and its time allows.
SHORTEST_LOG = 10
SHORTEST_EVALUATION = 100


@dataclass(frozen=True, kw_only=True)
class Job:
    """What to train on what, and what the thesis says comes of it. ``test`` names the test that counts."""

    setting: str
    model: str  # as the thesis's table calls it
    task: Task
    tests: Mapping[str, Task]
    test: str
    config: ModelConfig
    training: TrainConfig
    thesis: float | None = None
    thesis_parameters: int | None = None
    trace: bool = False  # leave what the memory did with one sequence, for heat maps

    def __post_init__(self) -> None:
        look_up(self.tests, self.test, "test")

    @property
    def folder(self) -> str:
        """Where its runs are, under jobs/."""
        return f"{_slug(self.setting)}/{_slug(self.model)}"

    def for_run(self, seed: int, scale: float) -> "Job":
        """The same job with a seed, and its training shortened to ``scale``."""
        training = self.training
        steps = max(1, round(training.steps * scale))
        shortened = dataclasses.replace(
            training,
            seed=seed,
            steps=steps,
            log_every=_shorten(training.log_every, scale, SHORTEST_LOG),
            eval_every=_shorten(training.eval_every, scale, SHORTEST_EVALUATION),
        )
        return dataclasses.replace(self, training=shortened)

    def to_json(self) -> dict[str, Any]:
        """All that decides what a run does; what the thesis says of it does not."""
        return {
            "setting": self.setting,
            "model": self.model,
            "task": _task_to_json(self.task),
            "tests": {label: _task_to_json(task) for label, task in self.tests.items()},
            "test": self.test,
            "config": dataclasses.asdict(self.config),
            "training": self.training.to_json(),
            "trace": self.trace,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Job":
        """The inverse of :meth:`to_json`. A setting that did not exist when it was written has its default."""
        return cls(
            setting=document["setting"],
            model=document["model"],
            task=_task_from_json(document["task"]),
            tests={label: _task_from_json(task) for label, task in document["tests"].items()},
            test=document["test"],
            config=_settings(ModelConfig, document["config"]),
            training=_settings(TrainConfig, document["training"]),
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
    """A table or figure of the thesis."""

    name: str
    title: str
    thesis: str  # where the thesis has it
    file: str
    jobs: Callable[[], list[Job]]
    metric: str = "accuracy"
    percent: bool = True
    better: Better = "higher"
    aggregate: str = "one value a row"  # how the thesis came to its values
    literature: Sequence[Literature] = ()

    @property
    def summary(self) -> str:
        """What a list of experiments says of it."""
        return self.title

    def describe(self, scale: float) -> Description:
        """What a reader of its results needs to know."""
        quoted = [
            RowDescription(
                setting=row.setting, model=row.model, folder=None, test=None, thesis=row.thesis, thesis_parameters=None
            )
            for row in self.literature
        ]
        ours = [
            RowDescription(
                setting=job.setting,
                model=job.model,
                folder=job.folder,
                test=job.test,
                thesis=job.thesis,
                thesis_parameters=job.thesis_parameters,
            )
            for job in self.jobs()
        ]
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
            rows=sorted([*quoted, *ours], key=lambda row: order.index(row.setting)),
        )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _shorten(every: int, scale: float, shortest: int) -> int:
    return min(every, max(round(every * scale), shortest))


def _task_to_json(task: Task) -> dict[str, Any]:
    look_up(_task_types(), type(task).__name__, "type of task in the catalogue")
    assert dataclasses.is_dataclass(task)
    return {"type": type(task).__name__, **dataclasses.asdict(task)}


def _task_from_json(document: Mapping[str, Any]) -> Task:
    settings = dict(document)
    kind = look_up(_task_types(), settings.pop("type"), "type of task in the catalogue")
    return _settings(kind, settings)


def _task_types() -> dict[str, Callable[..., Task]]:
    tasks = [task for entry in TASKS.values() for task in (entry.train, *entry.tests.values())]
    return {type(task).__name__: type(task) for task in tasks}


def _settings(kind: Callable[..., Settings], document: Mapping[str, Any]) -> Settings:
    """A settings object from its fields; JSON has no tuples, and settings no lists."""
    try:
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in document.items()})
    except TypeError as error:
        raise UserError(f"these are not the settings of a job: {error}") from error
