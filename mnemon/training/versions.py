"""What ran, and on what: the facts that a number needs beside it to be repeated."""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import torch


def mnemon_version() -> str:
    """The installed version, or a word that says there is none (a bare checkout)."""
    try:
        return importlib.metadata.version("mnemon")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def revision(root: Path) -> str | None:
    """The commit that a checkout is at, in twelve digits, whatever was changed since; None for another folder.

    It is read from git's files: git itself would run what the settings of a repository name.
    """
    folder = root / ".git"
    try:
        head = (folder / "HEAD").read_text(encoding="utf-8").strip()
        name = head.removeprefix("ref: ")
        if name == head:
            return head[:12]
        if (folder / name).exists():
            return (folder / name).read_text(encoding="utf-8")[:12]
        packed = (folder / "packed-refs").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return next((line[:12] for line in packed if line.endswith(f" {name}")), None)


def provenance() -> dict[str, Any]:
    """Versions and hardware."""
    return {
        "mnemon": mnemon_version(),
        "revision": revision(Path(__file__).parents[2]),
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
