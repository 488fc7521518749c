"""Telling a person how far a campaign is, on standard error."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from mnemon.report.description import Description
from mnemon.report.tables import duration, number
from mnemon.runner.messages import Standing
from mnemon.training.directory import RunDirectory
from mnemon.training.files import read_json


@runtime_checkable
class Display(Protocol):
    """What a campaign tells while it goes on."""

    def start(self, done: int, total: int) -> None:
        """So many of the runs are finished already."""
        ...

    def show(self, standings: Mapping[str, Standing]) -> None:
        """Where the runs at work stand, by name; called many times a second."""
        ...

    def finished(self, name: str, folder: Path, description: Description) -> None:
        """A run is complete."""
        ...

    def failed(self, name: str, reason: str) -> None:
        """A run ended without a result."""
        ...

    def stop(self) -> None:
        """The campaign is over, or was stopped."""
        ...


def make_display() -> Display:
    """Bars on a terminal, a line for each run elsewhere."""
    return BarDisplay() if sys.stderr.isatty() else LineDisplay()


class LineDisplay:
    """A line of plain text for each run that ends."""

    def __init__(self) -> None:
        self._done = self._total = 0

    def start(self, done: int, total: int) -> None:
        """Say what is left to do."""
        self._done, self._total = done, total
        self._print(f"{total} jobs, {done} finished before")

    def show(self, standings: Mapping[str, Standing]) -> None:
        """Nothing."""

    def finished(self, name: str, folder: Path, description: Description) -> None:
        """One line."""
        self._done += 1
        self._print(f"[{self._done}/{self._total}] {name}: {_outcome(folder, description)}")

    def failed(self, name: str, reason: str) -> None:
        """One line."""
        self._print(f"failed: {name}: {reason}")

    def stop(self) -> None:
        """Nothing is left to say."""

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class BarDisplay:
    """A bar for each run at work and one for the campaign; finished runs scroll away above."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

        self._console = Console(stderr=True, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}", markup=False),
            console=self._console,
            refresh_per_second=4,
        )
        self._bars: dict[str, TaskID] = {}

    def start(self, done: int, total: int) -> None:
        """Draw the campaign's bar."""
        self._all = self._progress.add_task("jobs", completed=done, total=total, status="")
        self._progress.start()

    def show(self, standings: Mapping[str, Standing]) -> None:
        """Move the bars; those of runs that have ended go."""
        for name in self._bars.keys() - standings.keys():
            self._progress.remove_task(self._bars.pop(name))
        for name, standing in standings.items():
            if name not in self._bars:
                self._bars[name] = self._progress.add_task(name, total=None, status="starting")
            if standing.total:
                self._progress.update(
                    self._bars[name], completed=standing.done, total=standing.total, status=_status(standing)
                )

    def finished(self, name: str, folder: Path, description: Description) -> None:
        """Move the campaign's bar."""
        self._progress.advance(self._all)
        self._console.print(f"{name}: {_outcome(folder, description)}", markup=False)

    def failed(self, name: str, reason: str) -> None:
        """Say it in red."""
        self._console.print(f"failed: {name}: {reason}", style="red", markup=False)

    def stop(self) -> None:
        """Leave the bars as they stand."""
        self._progress.stop()


def _status(standing: Standing) -> str:
    parts = [f"{name} {value:.4g}" for name, value in (("loss", standing.loss), ("metric", standing.metric)) if value]
    if standing.seconds_left is not None:
        parts.append(f"{duration(standing.seconds_left)} left")
    return "  ".join(parts)


def _outcome(folder: Path, description: Description) -> str:
    """The metric of a finished run and its time."""
    summary = read_json(RunDirectory(folder).summary)
    value = summary["metrics"][summary["config"]["run"]["job"]["test"]].get(description.metric)
    shown = None if value is None else value * (100 if description.percent else 1)
    return f"{description.metric_label} {number(shown)} in {duration(summary['seconds'])}"
