"""Memory that is freed and taken again at every step.

glibc hands large blocks back to the system when they are freed, and each page of a new one costs a fault. A training
step frees and takes the same tens of megabytes every time, which makes up a tenth of its time and more.
"""

import contextlib
import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, in glibc's malloc.h
_MOST = 2**30  # bytes


def keep_freed_memory() -> None:
    """Let this process keep up to a gigabyte that it has freed, for what it takes next; glibc only."""
    with contextlib.suppress(AttributeError, OSError):
        set_option = ctypes.CDLL(None).mallopt
        set_option(_MMAP_THRESHOLD, _MOST)
        set_option(_TRIM_THRESHOLD, _MOST)
