"""What became of the faults of one kind."""

from typing import NamedTuple


class Tally(NamedTuple):
    """How many were tried; the run came to the same end after so many; something of the result was lost in so many."""

    kind: str
    tried: int
    survived: int
    lost: int

    def __str__(self) -> str:
        return f"{self.kind}: {self.tried} tried, {self.survived} survived, data lost in {self.lost}"


def count(kind: str, outcomes: list[bool]) -> Tally:
    """From whether each was survived; what was not survived has lost something."""
    survived = sum(outcomes)
    return Tally(kind, len(outcomes), survived, len(outcomes) - survived)
