"""Errors that a user can mend: the message is one line that says what to write instead."""

import importlib.util
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

Entry = TypeVar("Entry")


class UserError(ValueError):
    """Raised for bad input; the command line prints its message as one line and exits with 2."""


def require_package(module: str, what: str, extra: str) -> None:
    """Check that a package of an extra is installed, before it is imported."""
    if importlib.util.find_spec(module) is None:
        raise UserError(f"{what} needs {module}: pip install 'mnemon[{extra}]'")


def look_up(catalogue: Mapping[str, Entry], name: str, kind: str) -> Entry:
    """The entry of that name, or an error that says which names there are."""
    if name in catalogue:
        return catalogue[name]
    close = get_close_matches(name, catalogue, n=1)
    suggestion = f"did you mean {close[0]!r}? " if close else ""
    raise UserError(f"no {kind} is called {name!r}: {suggestion}write one of {', '.join(catalogue)}")
