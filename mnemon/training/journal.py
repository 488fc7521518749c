"""Where a row of the records goes: to the file, to the person who watches, and to TensorBoard where asked for."""

from pathlib import Path
from types import TracebackType

from mnemon.training.board import TensorBoard
from mnemon.training.progress import Progress
from mnemon.training.record import Record, RecordWriter


class Journal:
    """All listeners of a run as one, open while it runs."""

    def __init__(self, progress: Progress, records: Path | None, board: TensorBoard | None) -> None:
        self._progress = progress
        self._writer = None if records is None else RecordWriter(records)
        self._board = board

    def step(self, step: int, loss: float) -> None:
        """A step is complete."""
        self._progress.step(step, loss)

    def add(self, record: Record) -> None:
        """Something was measured."""
        if self._writer is not None:
            self._writer.add(record)
        self._progress.show(record)
        if self._board is not None:
            self._board.add(record)

    def reach_disk(self) -> None:
        """Make all rows so far survive a power cut."""
        if self._writer is not None:
            self._writer.reach_disk()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        if self._writer is not None:
            self._writer.close()
        if self._board is not None:
            self._board.close()
