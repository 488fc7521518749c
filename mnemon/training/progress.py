"""Telling a person how far a run is. All of it goes to standard error: standard output is for results."""

import sys
import time
from typing import Protocol, runtime_checkable

from mnemon.training.record import Record

BAR_SECONDS = 0.2  # between two looks of a person at a bar
LINE_SECONDS = 10.0  # between two lines of a log file


@runtime_checkable
class Progress(Protocol):
    """What the loop tells while it runs."""

    def start(self, done: int, total: int) -> None:
        """The run goes on after ``done`` steps and ends after ``total``."""
        ...

    def step(self, step: int, loss: float) -> None:
        """A step is complete. Called at every one, so it must cost next to nothing."""
        ...

    def show(self, record: Record) -> None:
        """A row was added to the records."""
        ...

    def stop(self) -> None:
        """The run is over, or was stopped."""
        ...


def make_progress() -> Progress:
    """A bar on a terminal, now and then a line elsewhere."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


class SilentProgress:
    """Says nothing."""

    def start(self, done: int, total: int) -> None:
        """Nothing."""

    def step(self, step: int, loss: float) -> None:
        """Nothing."""

    def show(self, record: Record) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


class _Pace:
    """Where the run is, how fast it goes, and what was measured last."""

    def __init__(self, done: int, total: int) -> None:
        self.first = self.done = done
        self.total = total
        self.loss = float("nan")
        self.metric = ""
        self._began = time.monotonic()

    def see(self, record: Record) -> None:
        """Keep the main metric, which is the first that a task names."""
        for name, value in list(record.metrics.items())[:1]:
            self.metric = f"  {name} {value:.4g}"

    def status(self) -> str:
        return f"loss {self.loss:.4g}{self.metric}  {self._speed():.3g} steps/s"

    def left(self) -> str:
        seconds = round((self.total - self.done) / self._speed()) if self.done > self.first else 0
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d} left"

    def _speed(self) -> float:
        return (self.done - self.first) / max(time.monotonic() - self._began, 1e-9)


class LineProgress:
    """A line of plain text every ten seconds and at every evaluation: for log files."""

    def __init__(self) -> None:
        self._pace = _Pace(0, 0)
        self._next = 0.0

    def start(self, done: int, total: int) -> None:
        """Say where the run begins."""
        self._pace = _Pace(done, total)
        self._next = time.monotonic() + LINE_SECONDS
        self._print(f"from step {done} to {total}")

    def step(self, step: int, loss: float) -> None:
        """Say how it goes when ten seconds have passed."""
        self._pace.done, self._pace.loss = step, loss
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_SECONDS
            self._print(f"step {step}/{self._pace.total}  {self._pace.status()}  {self._pace.left()}")

    def show(self, record: Record) -> None:
        """Say what an evaluation found."""
        self._pace.see(record)
        if record.kind == "eval":
            values = "  ".join(f"{name} {value:.4g}" for name, value in record.metrics.items())
            self._print(f"step {record.step}/{self._pace.total}  {record.test}: loss {record.loss:.4g}  {values}")

    def stop(self) -> None:
        """Nothing is left to say."""

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


class BarProgress:
    """A bar that stays in its line: for terminals."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[status]}"),
            console=Console(stderr=True),
            auto_refresh=False,  # no thread beside the training: it would take time from it
        )
        self._pace = _Pace(0, 0)
        self._next = 0.0

    def start(self, done: int, total: int) -> None:
        """Draw the bar."""
        self._pace = _Pace(done, total)
        self._task = self._bar.add_task("train", completed=done, total=total, status="")
        self._bar.start()

    def step(self, step: int, loss: float) -> None:
        """Move the bar a few times a second."""
        self._pace.done, self._pace.loss = step, loss
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + BAR_SECONDS
            self._draw()

    def show(self, record: Record) -> None:
        """Keep the metric for the next drawing."""
        self._pace.see(record)

    def stop(self) -> None:
        """Leave the bar as it stands."""
        self._draw()
        self._bar.stop()

    def _draw(self) -> None:
        status = f"{self._pace.status()}  {self._pace.left()}"
        self._bar.update(self._task, completed=self._pace.done, status=status, refresh=True)
