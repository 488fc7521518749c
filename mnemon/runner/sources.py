"""Where a job's task comes from: its settings are all of it, or it is read from a data set.

As JSON the one is ``{"type": "TokenCopy", "length": 50, "largest": 9}`` and the other ``{"data": "mnist"}``. A task may
be made of others, which are written in the same way. A law is written as a task is.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mnemon.ehr.catalogue import RECORD_TASKS
from mnemon.errors import UserError, look_up
from mnemon.laws.base import Law
from mnemon.laws.catalogue import LAWS
from mnemon.tasks.base import Task
from mnemon.tasks.catalogue import DATA_TASKS, TASKS, DataTaskEntry

Settings = TypeVar("Settings")
ENTRIES: dict[str, DataTaskEntry] = {**DATA_TASKS, **RECORD_TASKS}


@dataclass(frozen=True, kw_only=True)
class DataTask:
    """A task of the catalogue that needs data; it brings its own tests, ``validation`` and ``test``."""

    name: str

    def __post_init__(self) -> None:
        look_up(ENTRIES, self.name, "task over a data set")

    def open(self, data: Path | None) -> tuple[Task, Mapping[str, Task]]:
        """Read the data from a folder."""
        if data is None:
            raise UserError(f"task {self.name!r} needs its data: write --data and the folder that holds them")
        entry = ENTRIES[self.name].open(data)
        return entry.train, entry.tests


def task_to_json(task: Task | DataTask) -> dict[str, Any]:
    """What :func:`task_from_json` makes the same task of."""
    if isinstance(task, DataTask):
        return {"data": task.name}
    look_up(_task_types(), type(task).__name__, "type of task in the catalogue")
    return _settings_to_json(task)


def task_from_json(document: Mapping[str, Any]) -> Task | DataTask:
    """The inverse of :func:`task_to_json`."""
    settings = dict(document)
    if "data" in settings:
        return DataTask(name=settings["data"])
    kind = look_up(_task_types(), settings.pop("type"), "type of task in the catalogue")
    return settings_from_json(kind, settings)


def law_to_json(law: Law) -> dict[str, Any]:
    """What :func:`law_from_json` makes the same law of."""
    look_up(LAWS, type(law).__name__, "law in the catalogue")
    return _settings_to_json(law)


def law_from_json(document: Mapping[str, Any]) -> Law:
    """The inverse of :func:`law_to_json`."""
    settings = dict(document)
    return settings_from_json(look_up(LAWS, settings.pop("type"), "law in the catalogue"), settings)


def settings_from_json(kind: Callable[..., Settings], document: Mapping[str, Any]) -> Settings:
    """A settings object from its fields. One that was switched off and does not exist any more is passed over."""
    known = inspect.signature(kind).parameters
    try:
        return kind(**{name: _from_json(value) for name, value in document.items() if name in known or value})
    except TypeError as error:
        raise UserError(f"these are not the settings of a job: {error}") from error


def _settings_to_json(settings: Any) -> dict[str, Any]:
    """Its type and its fields."""
    assert dataclasses.is_dataclass(settings)
    fields = {field.name: _to_json(getattr(settings, field.name)) for field in dataclasses.fields(settings)}
    return {"type": type(settings).__name__, **fields}


def _to_json(value: Any) -> Any:
    """A setting, in which there may be other tasks."""
    if isinstance(value, tuple):
        return [_to_json(entry) for entry in value]
    return task_to_json(value) if isinstance(value, Task) else value


def _from_json(value: Any) -> Any:
    """The inverse of :func:`_to_json`; JSON has no tuples, and settings no lists."""
    if isinstance(value, list):
        return tuple(_from_json(entry) for entry in value)
    return task_from_json(value) if isinstance(value, dict) else value


def _task_types() -> dict[str, Callable[..., Task]]:
    tasks = [task for entry in TASKS.values() for task in (entry.train, *entry.tests.values())]
    return {type(task).__name__: type(task) for task in tasks}
