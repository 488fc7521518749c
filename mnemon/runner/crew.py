"""Who carries out the runs of a campaign: processes of this machine (:mod:`mnemon.runner.local`), or of a cluster."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, runtime_checkable

from mnemon.runner.messages import Assignment, Standing
from mnemon.runner.run import Run


class Ended(NamedTuple):
    """A run that nobody works on any more."""

    run: Run
    reason: str | None  # why it is not finished; None: it is said to be


@runtime_checkable
class Crew(Protocol):
    """What a campaign asks of whoever carries out its runs. What is known of them is in their folders alone."""

    def start(self, lock: int) -> None:
        """Get ready; the descriptor is the campaign's hold on its folder, for processes that can inherit it."""
        ...

    def give(self, run: Run, assignment: Assignment) -> None:
        """Take on one more run, to be begun when there is room for it."""
        ...

    @property
    def busy(self) -> bool:
        """Whether any run waits or is at work."""
        ...

    def ended(self) -> list[Ended]:
        """The runs that have ended since it was last asked; to be called many times a second."""
        ...

    def standings(self) -> Mapping[str, Standing]:
        """Where the runs at work stand, by name, as far as that is known here."""
        ...

    def ask_to_stop(self) -> None:
        """Let the runs at work save and end, and begin no other."""
        ...

    def close(self) -> None:
        """Give back everything; what is still at work ends."""
        ...
