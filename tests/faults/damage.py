"""Flipped bits, cut ends and foreign content, in every file that a run leaves; the run goes on all the same."""

import random
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

from mnemon.errors import UserError
from mnemon.training.interrupt import Interrupted
from tests.faults.runs import CONFIG, Left, undisturbed
from tests.faults.tally import Tally, count
from tests.training.test_resume import SignalDuring
from tests.training.tiny_training import run_tiny, weights_and_records

Damage = Callable[[bytes, random.Random], bytes]


def flipped(data: bytes, chance: random.Random) -> bytes:
    """One bit is the other."""
    if not data:
        return data
    changed = bytearray(data)
    changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(len(data) + 1)]


def zeroed(data: bytes, chance: random.Random) -> bytes:
    """A part reads as zeros, as after a crash of the file system."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + 4096)
    return data[:start] + bytes(end - start) + data[end:]


def foreign(data: bytes, chance: random.Random) -> bytes:
    """It is another file altogether."""
    return chance.randbytes(chance.randrange(2 * len(data) + 1))


KINDS: dict[str, Damage] = {"bit flips": flipped, "cut files": cut, "zeroed blocks": zeroed, "foreign files": foreign}


def damages(folder: Path, times: int, seed: int = 0) -> list[Tally]:
    """Damage a file of a stopped run, so often in each way, and go on."""
    chance = random.Random(seed)
    expected = undisturbed(folder / "whole")
    stopped = folder / "stopped"
    try:
        run_tiny(stopped, CONFIG, task=SignalDuring(step=31))
    except Interrupted:
        files = sorted(path for path in stopped.rglob("*") if path.is_file())
    return [
        count(kind, [_survives(stopped, chance.choice(files), damage, chance, expected) for _ in range(times)])
        for kind, damage in KINDS.items()
    ]


def _survives(stopped: Path, file: Path, damage: Damage, chance: random.Random, expected: Left) -> bool:
    out = stopped.with_name("damaged")
    shutil.copytree(stopped, out)
    hit = out / file.relative_to(stopped)
    hit.write_bytes(damage(hit.read_bytes(), chance))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_tiny(out, CONFIG, resume=True)
        return weights_and_records(out) == expected
    except UserError:
        return False  # told, and yet the run does not go on
    finally:
        shutil.rmtree(out)
