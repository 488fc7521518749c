"""What ran, and on what: the facts that a number needs beside it to be repeated."""

import importlib.metadata
import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import torch


def mnemon_version() -> str:
    """The installed version, or a word that says there is none (a bare checkout)."""
    try:
        return importlib.metadata.version("mnemon")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


@cache
def revision(file: Path) -> str | None:
    """The commit of the checkout that a file is of, ``-dirty`` where files differ from it; else None.

    An installed package may lie inside a repository that is not its own, so the file itself must be known to git.
    """

    def git(*words: str) -> str:
        command = ["git", "-C", str(file.parent), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=10).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", file.name)
        return git("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")
    except (OSError, subprocess.SubprocessError):
        return None


def provenance() -> dict[str, Any]:
    """Versions and hardware."""
    return {
        "mnemon": mnemon_version(),
        "revision": revision(Path(__file__)),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    }


def _cpu_model() -> str:
    """Linux tells the processor's name in a file; elsewhere Python's own answer has to do."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
