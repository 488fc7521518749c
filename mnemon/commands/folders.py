"""Which folder holds the data sets: the one given, or the one that the environment names."""

import os
from pathlib import Path

from mnemon.errors import UserError


def data_folder(given: Path | None) -> Path | None:
    """``--data``, else ``$MNEMON_DATA``, else none."""
    named = os.environ.get("MNEMON_DATA")
    folder = Path(named) if given is None and named else given
    if folder is not None and not folder.is_dir():
        raise UserError(f"there is no folder {folder}: give --data the one that holds the data sets")
    return folder
