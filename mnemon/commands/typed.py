"""The command that was typed, as records keep it."""

import sys
from pathlib import Path


def typed() -> list[str]:
    """How to repeat what is being done. Others read it: of a path from the root only the last name is told."""
    return ["mnemon", *map(_without_place, sys.argv[1:])]


def _without_place(argument: str) -> str:
    option, equals, value = argument.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else argument
