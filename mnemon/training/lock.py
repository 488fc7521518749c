"""One process at a time in a folder, or one campaign with its workers.

The lock is on the folder itself and leaves nothing behind: the system takes it from a process that is gone. A campaign
hands it to its workers, so that it is free only when the last of them is gone, even where the campaign was killed and
they are still saving.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemon.errors import UserError


@contextmanager
def only_one_in(folder: Path, patience: float = 0.0) -> Iterator[int]:
    """Hold the lock, which is waited for so many seconds; gives its descriptor, for workers to inherit."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + patience
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                raise UserError(f"another mnemon is at work in {folder}: wait for it, or choose another folder")
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
