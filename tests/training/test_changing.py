"""A task that changes with the steps: trained on in turn, and resumed exactly wherever it was stopped."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.tasks.base import ChangingTask, Task
from mnemon.training.interrupt import Interrupted
from mnemon.training.record import read_records
from tests.training.crash_points import CrashPoints
from tests.training.test_resume import Crash, SignalDuring, crash
from tests.training.tiny_training import Delay, run_tiny, tiny_config, weights_and_records

SHORT, LONG = Delay(length=2), Delay(length=9)


@dataclass(frozen=True)
class Turns(Delay):
    """Short sequences in the first half of the steps, long ones in the second."""

    first: Task = SHORT
    second: Task = LONG

    def at(self, step: int, steps: int) -> Task:
        return self.first if 2 * step <= steps else self.second


def test_each_part_is_trained_on_in_its_share(tmp_path: Path) -> None:
    assert isinstance(Turns(), ChangingTask)
    config = tiny_config(log_every=1)
    run_tiny(tmp_path / "both", config, task=Turns())
    run_tiny(tmp_path / "first", config, task=Delay(length=2))
    both, first = (read_records(tmp_path / name / "records.jsonl") for name in ("both", "first"))
    trained, alone = ([record for record in each if record.kind == "train"] for each in (both, first))
    assert trained[:5] == alone[:5]
    assert all(ours != other for ours, other in zip(trained[5:], alone[5:], strict=True))
    assert trained[9].metrics["bit_errors"] > 2 * alone[9].metrics["bit_errors"], "longer sequences have more bits"


@pytest.mark.parametrize("stop", [1, 4, 5, 6, 9])
def test_interrupted_at_any_share_it_resumes_to_the_same_bytes(tmp_path: Path, stop: int) -> None:
    run_tiny(tmp_path / "whole", task=Turns())
    cut = Turns(first=SignalDuring(length=2, step=stop), second=SignalDuring(length=9, step=stop))
    with pytest.raises(Interrupted, match=f"interrupted at step {stop} of 10"):
        run_tiny(tmp_path / "cut", task=cut)
    run_tiny(tmp_path / "cut", task=Turns(), resume=True)
    assert weights_and_records(tmp_path / "cut") == weights_and_records(tmp_path / "whole")


def test_crash_at_every_point_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    config = tiny_config(steps=6)
    with CrashPoints(None, crash) as points:
        run_tiny(tmp_path / "whole", config, task=Turns())
    expected = weights_and_records(tmp_path / "whole")
    for at in range(0, points.count, 3):
        out = tmp_path / f"crash-{at}"
        with pytest.raises(Crash), CrashPoints(at, crash):
            run_tiny(out, config, task=Turns())
        run_tiny(out, config, task=Turns(), resume=(out / "run.json").exists())
        assert weights_and_records(out) == expected, f"crash point {at}"


def test_it_cannot_be_extended(tmp_path: Path) -> None:
    """Its shares would fall on other steps than those already taken."""
    run_tiny(tmp_path, task=Turns())
    with pytest.raises(UserError, match="a run on a changing task cannot be extended"):
        run_tiny(tmp_path, tiny_config(steps=20), task=Turns(), resume=True)
