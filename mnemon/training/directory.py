"""The folder of a run, and who may write to it.

run.json                      format, and the config that the run was started with
records.jsonl                 what was measured (:mod:`mnemon.training.record`)
checkpoints/step-*.safetensors
summary.json                  written when the run is complete
task.json                     what of its data the task needs, so that the model can be used without them
traces.json                   what the model did with held-out sequences, where asked for
law.json                      curves beside their formulas, where a law was measured (:mod:`mnemon.laws.base`)
tensorboard/                  where asked for
"""

import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemon.errors import UserError
from mnemon.training.files import PARTIAL, DamagedFile, read_json, write_json
from mnemon.training.lock import only_one_in

FORMAT = "mnemon run"
VERSION = 1
EXTENDABLE = "training.steps"  # the one setting that may grow when a run is resumed
CHANGING = "changing"  # there where the task changes in shares of the steps


class RunDirectory:
    """Names of the files in a run's folder. Making one touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = path / "run.json"
        self.records = path / "records.jsonl"
        self.checkpoints = path / "checkpoints"
        self.summary = path / "summary.json"
        self.task = path / "task.json"
        self.traces = path / "traces.json"
        self.law = path / "law.json"
        self.tensorboard = path / "tensorboard"

    @contextmanager
    def owned(self, patience: float = 0.0) -> Iterator[None]:
        """Keep other processes out of the folder; what was made for it, and stays empty, goes again.

        One that is leaving is waited for, so many seconds.
        """
        made = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        self._make(self.path)
        try:
            with only_one_in(self.path, patience):
                yield
        finally:
            for folder in made:
                if any(folder.iterdir()):
                    break
                folder.rmdir()

    def check_free(self) -> None:
        """Refuse a folder in which there is anything, so that a new run overwrites nothing."""
        if any(not entry.name.endswith(PARTIAL) for entry in self.path.iterdir()):
            raise UserError(f"{self.path} is not empty: resume the run in it, or choose another folder")

    def check_resumable(self, config: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> None:
        """Refuse a folder in which no run with the same config was started, or one on data with other words."""
        if not self.run.exists():
            raise UserError(f"there is no run to resume in {self.path}: start one there without resuming")
        try:
            refuse_differences(self.run, self.config(), config)
        except DamagedFile as error:  # the checkpoints say the same
            warnings.warn(f"{error}; it is written anew", stacklevel=2)
        if kept is not None and self.task.exists() and read_json(self.task) != kept:
            raise UserError(
                f"{self.task} is of other data: give those that the run was started with, or another folder"
            )

    def claim(self, config: Mapping[str, Any]) -> None:
        """Make the folder this run's own; call it when nothing can be refused any more.

        ``run.json`` comes first: a run killed right here must be found to be one.
        """
        document = {"format": FORMAT, "version": VERSION, "config": dict(config)}
        self._make(self.path)
        write_json(self.run, document)
        self._make(self.checkpoints)

    def _make(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file: choose a folder for the run")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make the folder {folder}: {error.strerror or error}") from error

    def config(self) -> dict[str, Any]:
        """The config that the run was started with, for whoever wants to build its model again."""
        document = read_json(self.run)
        if document.get("format") != FORMAT or not isinstance(document.get("config"), dict):
            raise DamagedFile(f"{self.run} does not describe a mnemon run")
        if document.get("version") != VERSION:
            raise UserError(f"{self.run} has version {document.get('version')}; this mnemon reads version {VERSION}")
        return dict(document["config"])


def refuse_differences(source: Path, stored: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Refuse a config that is not the one in a file of the run; only the number of steps may grow."""
    for field, before, now in _differences(stored, json.loads(json.dumps(config))):
        if field != EXTENDABLE:
            raise UserError(
                f"{source} has {field} {json.dumps(before)}, not {json.dumps(now)}:"
                " give the same value to resume, or choose another folder"
            )
        if config["training"]["anneal"]:
            raise UserError(f"{source} has {field} {before}, not {now}: a run with annealing cannot be extended")
        if config.get(CHANGING):
            raise UserError(f"{source} has {field} {before}, not {now}: a run on a changing task cannot be extended")
        if now < before:
            raise UserError(f"{source} has {field} {before}, not {now}: ask for {before} or more to resume")


def _differences(before: Any, now: Any, field: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The dotted names of the fields that differ, each with both its values.

    A field that was switched off and does not exist any more makes no difference.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        kept = [name for name, value in before.items() if name in now or value]
        for name in [*kept, *(name for name in now if name not in before)]:
            yield from _differences(before.get(name), now.get(name), f"{field}.{name}" if field else name)
    elif before != now:
        yield field, before, now
