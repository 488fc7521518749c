"""One campaign at a time in a folder.

The lock is on the folder itself and is handed to the workers, so that it is free only when the last of them is gone,
even where the campaign was killed and they are still saving. Nothing is left behind.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemon.errors import UserError

PATIENCE = 15.0  # seconds that the workers of a killed campaign may need to see it and save


@contextmanager
def only_campaign_in(folder: Path, patience: float = PATIENCE) -> Iterator[int]:
    """Hold the lock; gives its descriptor, for the workers to inherit."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + patience
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                raise UserError(f"another mnemon run is at work in {folder}: wait for it, or choose another folder")
            time.sleep(0.1)
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
