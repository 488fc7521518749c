"""A run that died and was resumed must leave what a run leaves that did not die, byte by byte."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.training.interrupt import Interrupted
from mnemon.training.record import read_records
from mnemon.training.seeding import batch_seed
from tests.training.crash_points import CrashPoints
from tests.training.tiny_training import Delay, run_tiny, tiny_config, tiny_model, weights_and_records


class Crash(BaseException):
    """Nothing in the library may catch this."""


def crash() -> None:
    raise Crash


@dataclass(frozen=True)
class SignalDuring(Delay):
    """Sends this process a signal while a step draws its batch."""

    step: int = 0
    number: signal.Signals = signal.SIGINT
    times: int = 1

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        if generator.initial_seed() == batch_seed(0, "train", self.step):
            for _ in range(self.times):
                signal.raise_signal(self.number)
        return super().sample(batch_size, generator)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Also where the tests run in the background, for which shells have SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_same_seed_twice_gives_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run_tiny(tmp_path / name)
    run_tiny(tmp_path / "other", tiny_config(seed=1))
    assert weights_and_records(tmp_path / "one") == weights_and_records(tmp_path / "two")
    assert read_records(tmp_path / "one/records.jsonl") != read_records(tmp_path / "other/records.jsonl")


@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
@pytest.mark.parametrize("stop", [1, 3, 4, 9])
def test_interrupted_run_resumes_to_the_same_bytes(tmp_path: Path, optimiser: str, stop: int) -> None:
    config = tiny_config(optimiser=optimiser)
    run_tiny(tmp_path / "whole", config)
    with pytest.raises(Interrupted, match=f"interrupted at step {stop} of 10: saved .*step-0000000{stop}.*--resume"):
        run_tiny(tmp_path / "cut", config, task=SignalDuring(step=stop))
    run_tiny(tmp_path / "cut", config, resume=True)
    assert weights_and_records(tmp_path / "cut") == weights_and_records(tmp_path / "whole")


def test_crash_at_every_point_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Each resumed run gets its weights from the file alone: the model it is given is made anew."""
    config = tiny_config(steps=7)
    with CrashPoints(None, crash) as points:
        run_tiny(tmp_path / "whole", config)
    assert points.count > 40
    expected = weights_and_records(tmp_path / "whole")
    for at in range(points.count):
        out = tmp_path / f"crash-{at}"
        with pytest.raises(Crash), CrashPoints(at, crash):
            run_tiny(out, config)
        run_tiny(out, config, resume=(out / "run.json").exists())
        assert weights_and_records(out) == expected, f"crash point {at}"
        assert (out / "summary.json").exists()
        assert not list(out.rglob("*.partial"))


def test_killed_processes_resume_to_the_same_bytes(tmp_path: Path) -> None:
    run_tiny(tmp_path / "whole", tiny_config(steps=40))
    root = str(Path(__file__).parents[2])
    moments = ["1", "9", "24", "31", "40", "77"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.killed_runs", str(tmp_path / "killed"), *moments],
        env={**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert weights_and_records(tmp_path / "killed") == weights_and_records(tmp_path / "whole")


def test_sigterm_saves_too(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        run_tiny(tmp_path / "run", task=SignalDuring(step=3, number=signal.SIGTERM))
    assert (tmp_path / "run/checkpoints/step-00000003.safetensors").exists()


def test_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "run", task=SignalDuring(step=3, times=2))
    assert not (tmp_path / "run/checkpoints/step-00000003.safetensors").exists()


def test_handlers_are_given_back(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(Interrupted):
        run_tiny(tmp_path / "run", task=SignalDuring(step=3))
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_interrupt_in_the_last_step_changes_nothing(tmp_path: Path) -> None:
    run_tiny(tmp_path / "whole")
    run_tiny(tmp_path / "late", task=SignalDuring(step=10))
    assert weights_and_records(tmp_path / "late") == weights_and_records(tmp_path / "whole")


def test_extended_run_equals_a_long_one(tmp_path: Path) -> None:
    """Ten steps end between two rows and two evaluations: the rows of that end must go again."""
    run_tiny(tmp_path / "long", tiny_config(steps=17))
    run_tiny(tmp_path / "short")
    run_tiny(tmp_path / "short", tiny_config(steps=17), resume=True)
    long, extended = (read_records(tmp_path / name / "records.jsonl") for name in ("long", "short"))
    assert extended == long
    assert weights_and_records(tmp_path / "short") == weights_and_records(tmp_path / "long")
    summary = json.loads((tmp_path / "short/summary.json").read_text())
    assert (summary["steps"], summary["resumed_from"]) == (17, 10)


def test_annealed_run_cannot_be_extended(tmp_path: Path) -> None:
    """Its learning rate has already fallen to zero, where a longer run's would still be high."""
    run_tiny(tmp_path / "run", tiny_config(anneal=0.5))
    with pytest.raises(UserError, match="a run with annealing cannot be extended"):
        run_tiny(tmp_path / "run", tiny_config(steps=17, anneal=0.5), resume=True)


def test_resuming_a_complete_run_does_nothing(tmp_path: Path) -> None:
    first = run_tiny(tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert run_tiny(tmp_path / "run", resume=True) == first
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before


def test_run_killed_before_its_first_checkpoint_begins_again(tmp_path: Path) -> None:
    config = tiny_config(checkpoint_every=100)
    run_tiny(tmp_path / "whole", config)
    with pytest.raises(KeyboardInterrupt):
        run_tiny(tmp_path / "cut", config, task=SignalDuring(step=7, times=2))
    assert read_records(tmp_path / "cut/records.jsonl")
    run_tiny(tmp_path / "cut", config, resume=True)
    assert weights_and_records(tmp_path / "cut") == weights_and_records(tmp_path / "whole")


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("training.learning_rate 0.01, not 0.5", {"config": tiny_config(learning_rate=0.5)}),
        ("training.seed 0, not 3", {"config": tiny_config(seed=3)}),
        ("run.model.slots 16, not 8", {"run": {"model": {"slots": 8}}}),
        (r'tests \["same", "longer"\], not \["other"\]', {"tests": {"other": Delay()}}),
    ],
)
def test_resume_with_another_config_names_the_field(tmp_path: Path, field: str, changes: dict[str, object]) -> None:
    run = {"model": {"slots": 16, "sizes": (1, 2)}}
    run_tiny(tmp_path, run=run)
    before = weights_and_records(tmp_path)
    with pytest.raises(UserError, match=field) as caught:
        run_tiny(tmp_path, resume=True, **{"run": run, **changes})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert weights_and_records(tmp_path) == before
    run_tiny(tmp_path, resume=True, run=run)  # the same one is not refused


def test_resume_without_an_option_that_was_off(tmp_path: Path) -> None:
    run_tiny(tmp_path / "off", run={"model": {"slots": 16, "links": False}})
    run_tiny(tmp_path / "off", resume=True, run={"model": {"slots": 16}})
    run_tiny(tmp_path / "on", run={"model": {"slots": 16, "links": True}})
    with pytest.raises(UserError, match=r"run\.model\.links true, not null"):
        run_tiny(tmp_path / "on", resume=True, run={"model": {"slots": 16}})


def test_resume_with_fewer_steps_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(UserError, match=r"has training.steps 10, not 6: ask for 10 or more"):
        run_tiny(tmp_path, tiny_config(steps=6), resume=True)
    assert (tmp_path / "run.json").read_bytes() == before


def test_resume_with_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path / "one")
    run_tiny(tmp_path / "two", tiny_config(seed=5, steps=12))
    stray = "checkpoints/step-00000012.safetensors"
    (tmp_path / "one" / stray).write_bytes((tmp_path / "two" / stray).read_bytes())
    with pytest.raises(UserError, match=r"step-00000012.* has training.seed 5, not 0"):
        run_tiny(tmp_path / "one", tiny_config(steps=20), resume=True)


def test_resume_with_another_model_is_refused(tmp_path: Path) -> None:
    run_tiny(tmp_path)
    model = tiny_model()
    model.head = type(model.head)(5, 2, bias=False)
    with pytest.raises(UserError, match=r"has a tensor 'head.bias' that this model has not"):
        run_tiny(tmp_path, tiny_config(steps=20), model=model, resume=True)


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run to resume in"):
        run_tiny(tmp_path / "nowhere", resume=True)
    assert not (tmp_path / "nowhere").exists()


def test_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="is not empty: resume the run in it, or choose another folder"):
        run_tiny(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file: choose a folder"):
        run_tiny(tmp_path / "file")
