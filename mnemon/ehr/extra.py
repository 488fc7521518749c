"""Packages that only health records need. A user without them is told how to get them."""

import importlib.util

from mnemon.errors import UserError


def require_extra(module: str, what: str) -> None:
    """Check that a package of the extra ``ehr`` is installed, before it is imported."""
    if importlib.util.find_spec(module) is None:
        raise UserError(f"{what} needs {module}: pip install 'mnemon[ehr]'")
