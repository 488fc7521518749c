"""Telling a person how far a campaign is, on standard error."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from mnemon.report.description import Description
from mnemon.report.results import first_value
from mnemon.report.tables import duration, number
from mnemon.runner.messages import Standing


@runtime_checkable
class Display(Protocol):
    """What a campaign tells while it goes on."""

    def start(self, description: Description, done: int, total: int) -> None:
        """So many of the runs are finished already."""
        ...

    def show(self, standings: Mapping[str, Standing]) -> None:
        """Where the runs at work stand, by name; called many times a second."""
        ...

    def finished(self, name: str, folder: Path) -> None:
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

    def start(self, description: Description, done: int, total: int) -> None:
        """Say what is left to do."""
        self._description, self._done, self._total = description, done, total
        self._print(f"{total} jobs, {done} finished before")

    def show(self, standings: Mapping[str, Standing]) -> None:
        """Nothing."""

    def finished(self, name: str, folder: Path) -> None:
        """One line."""
        self._done += 1
        self._print(f"[{self._done}/{self._total}] {name}: {_outcome(folder, self._description)}")

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

    def start(self, description: Description, done: int, total: int) -> None:
        """Draw the campaign's bar."""
        self._description = description
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
                status = _status(standing, self._description)
                self._progress.update(self._bars[name], completed=standing.done, total=standing.total, status=status)

    def finished(self, name: str, folder: Path) -> None:
        """Move the campaign's bar."""
        self._progress.advance(self._all)
        self._console.print(f"{name}: {_outcome(folder, self._description)}", markup=False)

    def failed(self, name: str, reason: str) -> None:
        """Say it in red."""
        self._console.print(f"failed: {name}: {reason}", style="red", markup=False)

    def stop(self) -> None:
        """Leave the bars as they stand."""
        self._progress.stop()


def _status(standing: Standing, description: Description) -> str:
    parts = [] if standing.loss is None else [f"loss {standing.loss:.4g}"]
    if standing.metric is not None:
        parts.append(f"{description.metric_label} {number(description.shown(standing.metric))}")
    if standing.seconds_left is not None:
        parts.append(f"{duration(standing.seconds_left)} left")
    return "  ".join(parts)


def _outcome(folder: Path, description: Description) -> str:
    """What a finished run puts into its first row, its time and, where it was taken over, what it was trained for."""
    label, value, summary = first_value(folder, description)
    outcome = f"{label} {number(value)} in {duration(summary['seconds'])}"
    origin = summary["config"]["run"]["experiment"]
    return outcome if origin == description.experiment else f"{outcome}, of {origin}"
