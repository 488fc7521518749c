"""What a step of training frees, the next one takes: given back to the system in between, it costs a fault for each
page.

The C library's malloc gives back what is free at the end of its heap, from a bound on that it sets by itself and that
the steps of a run may or may not reach; here that is turned off.
"""

import ctypes

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
LARGEST = 32 << 20  # bytes; larger blocks are the system's own, glibc allows no more


def keep_freed_memory() -> None:
    """For the rest of the process, where its C library is glibc; others are left as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, LARGEST)
        mallopt(TRIM_THRESHOLD, -1)
