"""How much memory and how many open files a process has, and how these grow."""

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """What a process has now."""

    kilobytes: int  # resident
    files: int

    def growth_since(self, before: "Usage") -> float:
        """By which share the memory has grown."""
        return self.kilobytes / before.kilobytes - 1


def usage() -> Usage:
    """Of this process."""
    return Usage(_status("VmRSS"), len(os.listdir("/proc/self/fd")))  # noqa: PTH208 - the names alone


def peak() -> int:
    """The most kilobytes that this process had so far."""
    return _status("VmHWM")


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise AssertionError(f"/proc/self/status has no {field}")
