"""Runs that stop early, and that do so at the same step however often they were stopped before."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.training.config import TrainConfig
from mnemon.training.interrupt import Interrupted
from mnemon.training.patience import Patience
from mnemon.training.record import read_records
from tests.training.crash_points import CrashPoints
from tests.training.test_resume import Crash, SignalDuring, crash
from tests.training.tiny_training import run_tiny, tiny_config, weights_and_records


def stuck(**changes: object) -> TrainConfig:
    """A run that learns nothing: the first evaluation, at step 4, is the best."""
    return tiny_config(**{"learning_rate": 1e-12, "steps": 40, "patience": 1} | changes)


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=12), st.integers(1, 4))
def test_against_a_loop(losses: list[float], limit: int) -> None:
    patience = Patience(limit)
    for seen, loss in enumerate(losses, start=1):
        patience.see(loss)
        numbers = [value for value in losses[:seen] if value == value]
        best_at = losses.index(min(numbers)) + 1 if numbers else 0
        assert patience.exhausted == (seen - best_at >= limit)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_no_limit(losses: list[float]) -> None:
    patience = Patience(None)
    for loss in losses:
        patience.see(loss)
    assert not patience.exhausted


@pytest.mark.parametrize(("patience", "last"), [(1, 8), (2, 12), (3, 16), (9, 40), (None, 40)])
def test_a_run_without_improvement_stops(tmp_path: Path, patience: int | None, last: int) -> None:
    result = run_tiny(tmp_path / "run", stuck(patience=patience))
    records = read_records(tmp_path / "run/records.jsonl")
    assert (result.steps, max(record.step for record in records)) == (last, last)
    assert result.checkpoint == tmp_path / f"run/checkpoints/step-{last:08d}.safetensors"
    assert result.checkpoint.exists()
    assert result.metrics.keys() == {"same", "longer"}
    assert json.loads((tmp_path / "run/summary.json").read_text())["steps"] == last


def test_up_to_its_end_it_is_the_run_without_patience(tmp_path: Path) -> None:
    run_tiny(tmp_path / "patient", stuck(patience=None, steps=8))
    run_tiny(tmp_path / "stopped", stuck())
    one, other = (read_records(tmp_path / name / "records.jsonl") for name in ("patient", "stopped"))
    assert one == other


def test_a_run_that_improves_goes_on(tmp_path: Path) -> None:
    config = tiny_config(steps=40, patience=1, learning_rate=1e-3, eval_sequences=64)
    assert run_tiny(tmp_path / "run", config).steps == 40
    losses = [record.loss for record in read_records(tmp_path / "run/records.jsonl") if record.test == "same"]
    assert losses == sorted(losses, reverse=True)


def test_crash_at_every_point_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    config = stuck(checkpoint_every=3)
    with CrashPoints(None, crash) as points:
        run_tiny(tmp_path / "whole", config)
    expected = weights_and_records(tmp_path / "whole")
    for at in range(points.count):
        out = tmp_path / f"crash-{at}"
        with pytest.raises(Crash), CrashPoints(at, crash):
            run_tiny(out, config)
        assert run_tiny(out, config, resume=(out / "run.json").exists()).steps == 8
        assert weights_and_records(out) == expected, f"crash point {at}"


@pytest.mark.parametrize("stop", [3, 4, 5, 7])
def test_interrupted_run_resumes_to_the_same_bytes(tmp_path: Path, stop: int) -> None:
    run_tiny(tmp_path / "whole", stuck())
    with pytest.raises(Interrupted, match=f"interrupted at step {stop} of 40"):
        run_tiny(tmp_path / "cut", stuck(), task=SignalDuring(step=stop))
    run_tiny(tmp_path / "cut", stuck(), resume=True)
    assert weights_and_records(tmp_path / "cut") == weights_and_records(tmp_path / "whole")


def test_an_interrupt_in_the_step_that_stops_changes_nothing(tmp_path: Path) -> None:
    run_tiny(tmp_path / "whole", stuck())
    run_tiny(tmp_path / "late", stuck(), task=SignalDuring(step=8))
    assert weights_and_records(tmp_path / "late") == weights_and_records(tmp_path / "whole")


@pytest.mark.parametrize("steps", [40, 80])
def test_a_run_that_stopped_is_over(tmp_path: Path, steps: int) -> None:
    first = run_tiny(tmp_path / "run", stuck())
    before = weights_and_records(tmp_path / "run")
    summary = (tmp_path / "run/summary.json").read_bytes()
    assert run_tiny(tmp_path / "run", stuck(steps=steps), resume=True) == first
    assert weights_and_records(tmp_path / "run") == before
    assert (tmp_path / "run/summary.json").read_bytes() == summary


def test_patience_needs_a_test(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^training setting 'patience' is 1: give a test to watch, or write None$"):
        run_tiny(tmp_path / "run", stuck(), tests={})


def test_no_patience_at_all() -> None:
    with pytest.raises(UserError, match=r"'patience' is 0: write a whole number of at least 1, or None$"):
        TrainConfig(patience=0)
