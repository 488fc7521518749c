"""What the campaign and a worker say to each other: one JSON object a line, the assignment down, progress up."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from mnemon.training.record import json_number

GRACE_SECONDS = 5.0  # for a worker to save in, when it is told to stop or the campaign is gone


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What a worker is told on its standard input, which stays open as long as the campaign has work for it."""

    job: dict[str, Any]  # Job.to_json()
    folder: str
    data: str | None  # the folder of the data sets
    experiment: str
    scale: float
    metric: str  # the one to tell of
    command: list[str]  # for people: how to repeat the run

    def to_line(self) -> bytes:
        """As it is sent."""
        return _line(asdict(self))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a worker is."""

    done: int = 0
    total: int = 0
    loss: float | None = None
    metric: float | None = None
    seconds_left: float | None = None
    finished: bool = False  # all is done that it was told, and it waits for more

    def to_line(self) -> bytes:
        """As it is sent."""
        numbers = asdict(self).items()
        return _line({name: json_number(value) if isinstance(value, float) else value for name, value in numbers})


def parse_assignment(line: bytes) -> Assignment:
    """The inverse of :meth:`Assignment.to_line`."""
    return Assignment(**json.loads(line))


def parse_standing(line: bytes) -> Standing:
    """The inverse of :meth:`Standing.to_line`."""
    return Standing(**json.loads(line))


def _line(document: dict[str, Any]) -> bytes:
    return (json.dumps(document, allow_nan=False) + "\n").encode()
