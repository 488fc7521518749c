"""Every reader takes its own files, survives changes to them, and what once broke it."""

import random
from pathlib import Path

import pytest

from tests.fuzz.mutations import changed
from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS, try_bytes

TIMES = 25
# Inputs that once raised something else than a complaint.
FOUND: list[tuple[str, bytes]] = [
    ("babi", b"1 A.\n2 Q?\tb\t" + b"1" * 5000),
    ("csv", b"1" * 5000 + b",a\n"),
    ("csv", "³,a\n".encode()),
    ("chit-chat", b"[" * 100_000),
    ("self-dialogue", b'{"turns": ' + b"[" * 100_000 + b"\n"),
    ("records", b'{"kind": "train", "step": 1e400, "loss": 1, "metrics": {}}\n'),
    ("records", b"[" * 100_000 + b"\n"),
    ("experiment", b"[" * 100_000),
    ("subtitles", b'<?xml version="1.0" encoding="nonsense"?><d/>'),
]
BROKEN = sorted((Path(__file__).parent / "found").iterdir())  # those that are no text
FOUND += [(path.name.rpartition("-")[0], path.read_bytes()) for path in BROKEN]


def test_there_is_a_seed_for_every_target() -> None:
    assert set(SEEDS) == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.usefixtures("unchecked")
def test_readers_complain_or_count(name: str) -> None:
    chance, seed = random.Random(name), SEEDS[name]()
    assert try_bytes(name, seed) or name in ("cornell",)
    taken = [try_bytes(name, changed(seed, chance)) for _ in range(TIMES)]
    assert not all(taken) or name in ("pairs", "self-dialogue", "cornell", "subtitles", "table")


@pytest.mark.parametrize(("name", "data"), FOUND, ids=[f"{name}-{place}" for place, (name, _) in enumerate(FOUND)])
def test_what_once_broke_a_reader(name: str, data: bytes) -> None:
    try_bytes(name, data)
