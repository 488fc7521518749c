"""``mnemon --version``."""

from mnemon.native.library import LIBRARY
from mnemon.training.versions import provenance


def installed() -> str:
    """What a report of a bug should say."""
    facts = provenance()
    revision = f" (revision {facts['revision']})" if facts["revision"] else ""
    kernels = "not built" if LIBRARY is None else "built"
    return f"mnemon {facts['mnemon']}{revision}, kernels {kernels}, torch {facts['torch']}, Python {facts['python']}"
