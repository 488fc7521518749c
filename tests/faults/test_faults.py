"""A few faults of every kind; ``make fault`` does hundreds."""

from pathlib import Path

import pytest

from tests.faults.damage import damages
from tests.faults.full_disk import full_disks, why_not
from tests.faults.kills import kills, terminations


def test_kills(tmp_path: Path) -> None:
    assert kills(tmp_path, 2)[1:] == (2, 2, 0)


def test_terminations(tmp_path: Path) -> None:
    assert terminations(tmp_path, 1)[1:] == (1, 1, 0)


def test_damages(tmp_path: Path) -> None:
    for tally in damages(tmp_path, 2):
        assert tally[1:] == (2, 2, 0), str(tally)


def test_full_disks(tmp_path: Path) -> None:
    if (reason := why_not()) is not None:
        pytest.skip(f"no disk can be made here: {reason}")
    assert full_disks(tmp_path, [48])[1:] == (1, 1, 0)
