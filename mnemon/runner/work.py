"""What a campaign can give to a worker: a job that trains, or one that measures a law."""

from typing import Any, Protocol, runtime_checkable

from mnemon.report.description import RowDescription
from mnemon.training.directory import RunDirectory


@runtime_checkable
class Work(Protocol):
    """All that a campaign needs to know of what is done in a run."""

    @property
    def setting(self) -> str:
        """Which part of the table it belongs to."""
        ...

    @property
    def model(self) -> str:
        """What is trained or measured, as the table calls it."""
        ...

    @property
    def folder(self) -> str:
        """Where its runs are, under jobs/."""
        ...

    @property
    def seed(self) -> int:
        """Of the run."""
        ...

    @property
    def needs_data(self) -> bool:
        """Whether it reads a data set."""
        ...

    def for_run(self, seed: int, scale: float) -> "Work":
        """The same with a seed, and shortened to ``scale``."""
        ...

    def is_finished(self, directory: RunDirectory) -> bool:
        """Whether all that it leaves is in the folder of a run."""
        ...

    def rows(self) -> list[RowDescription]:
        """The rows of the table that it fills."""
        ...

    def to_json(self) -> dict[str, Any]:
        """All that decides what a run does; what the thesis says of it does not."""
        ...
