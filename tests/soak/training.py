"""Training, saving, stopping and going on, over and over in one process: memory and open files stay flat."""

import gc
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from tests.soak.growth import Usage, usage
from tests.training.tiny_training import run_tiny, tiny_config, weights_and_records

CONFIG = tiny_config(steps=20)
WARM_UP = 2  # rounds


class Soaked(NamedTuple):
    """What came of it."""

    rounds: int
    before: Usage
    after: Usage


def soak(folder: Path, seconds: float, at_least: int = 10) -> Soaked:
    """Rounds of a run in two sittings, each compared with the first, for so long and at least so often."""
    expected, before, rounds = _round(folder), usage(), 0
    began = time.monotonic()
    while rounds < at_least + WARM_UP or time.monotonic() - began < seconds:
        assert _round(folder) == expected
        rounds += 1
        if rounds == WARM_UP:
            gc.collect()
            before = usage()
    gc.collect()
    return Soaked(rounds, before, usage())


def _round(folder: Path) -> tuple[bytes, bytes]:
    out = folder / "run"
    run_tiny(out, tiny_config(steps=9))
    run_tiny(out, CONFIG, resume=True)
    found = weights_and_records(out)
    shutil.rmtree(out)
    return found
