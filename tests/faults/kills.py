"""``kill -9`` at random moments of training, of writing checkpoints and of writing records."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

from tests.faults.runs import begun, completes, ended, undisturbed
from tests.faults.tally import Tally, count


def kills(folder: Path, times: int, seed: int = 0) -> Tally:
    """Kill runs so often; every third goes on only to be killed again. Each must end as if nothing had happened."""
    chance = random.Random(seed)
    expected = undisturbed(folder / "whole")
    began = time.monotonic()
    assert completes(folder / "timed", expected)
    whole = time.monotonic() - began
    outcomes: list[bool] = []
    while len(outcomes) < times:
        out = folder / f"killed-{len(outcomes)}"
        in_a_row = 3 if chance.random() < 1 / 3 else 1
        killed = sum(_killed(out, chance.uniform(0, whole)) for _ in range(in_a_row))
        good = completes(out, expected)
        outcomes += [good] * killed  # a run that was faster than its killer was not killed
        shutil.rmtree(out)
    return count("kill -9", outcomes[:times])


def _killed(out: Path, after: float) -> bool:
    process = begun(out)
    time.sleep(after)
    os.kill(process, signal.SIGKILL)
    return ended(process) == -signal.SIGKILL


def terminations(folder: Path, times: int, seed: int = 0) -> Tally:
    """SIGTERM, as a cluster sends it: the run saves and ends within five seconds, and goes on as if never stopped."""
    chance = random.Random(seed)
    expected = undisturbed(folder / "whole")
    outcomes = []
    for number in range(times):
        out = folder / f"terminated-{number}"
        process = begun(out)
        while not (out / "records.jsonl").exists():  # it listens from its first step on
            time.sleep(0.001)
        time.sleep(chance.uniform(0.01, 0.2))
        os.kill(process, signal.SIGTERM)
        outcomes.append(ended(process, patience=5.0) is not None and completes(out, expected))
        shutil.rmtree(out)
    return count("SIGTERM", outcomes)
