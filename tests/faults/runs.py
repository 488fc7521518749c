"""Training in a process of its own that can be killed, and what an undisturbed run leaves."""

import os
import time
import warnings
from pathlib import Path

from mnemon.training.config import TrainConfig
from tests.training.tiny_training import run_tiny, tiny_config, weights_and_records

CONFIG = tiny_config(steps=60)
Left = tuple[bytes, bytes]  # weights and records


def undisturbed(folder: Path) -> Left:
    """What a run leaves to which nothing happened."""
    if not (folder / "summary.json").exists():
        run_tiny(folder, CONFIG)
    return weights_and_records(folder)


def begun(folder: Path, config: TrainConfig = CONFIG) -> int:
    """A process that trains in the folder, or goes on there; it ends with 0 when the run is complete."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            warnings.simplefilter("ignore")
            run_tiny(folder, config, resume=(folder / "run.json").exists())
            code = 0
        finally:
            os._exit(code)
    return process


def ended(process: int, patience: float = 60.0) -> int | None:
    """How a process ended: its exit code, or minus the signal that ended it; None: not within so many seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def completes(folder: Path, expected: Left) -> bool:
    """Whether a run that is begun again ends as if nothing had happened."""
    return ended(begun(folder)) == 0 and weights_and_records(folder) == expected
