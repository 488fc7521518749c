"""Packages that only health records need. A user without them is told how to get them."""

from mnemon.errors import require_package


def require_extra(module: str, what: str) -> None:
    """Check that a package of the extra ``ehr`` is installed, before it is imported."""
    require_package(module, what, "ehr")
