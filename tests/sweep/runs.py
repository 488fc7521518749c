"""What tests of sweeps ask of folders and processes."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from safetensors.torch import load_file

from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.run import Run
from tests.sweep.tiny_sweep import PATIENCE, TWO

Found = TypeVar("Found")


def run_two(folder: Path, *, seeds: int, scale: float) -> None:
    """What ``mnemon run two`` leaves, with the weights."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "tidy", lambda _: None)
        assert (
            Campaign(TWO, folder, seeds=seeds, scale=scale).go(resume=False, processes=2, display=LineDisplay()) == []
        )


def assert_same(ours: Path, theirs: Path) -> None:
    """Whether two folders hold the same runs: records, traces and final weights, to the last bit."""
    runs = sorted(str(path.parent.relative_to(theirs)) for path in theirs.rglob("summary.json"))
    assert sorted(str(path.parent.relative_to(ours)) for path in ours.rglob("summary.json")) == runs
    for run in runs:
        one, other = ours / run, theirs / run
        assert (one / "records.jsonl").read_bytes() == (other / "records.jsonl").read_bytes()
        assert summary(one)["metrics"] == summary(other)["metrics"]
        assert (one / "run.json").read_bytes() == (other / "run.json").read_bytes()
        if (other / "traces.json").exists():
            assert (one / "traces.json").read_bytes() == (other / "traces.json").read_bytes()
        last = max((other / "checkpoints").iterdir()).name
        weights, expected = (load_file(folder / "checkpoints" / last) for folder in (one, other))
        assert weights.keys() == expected.keys()
        assert all(torch.equal(weights[name], expected[name]) for name in expected)


def summary(run: Path) -> Any:
    return json.loads((run / "summary.json").read_text())


def unfinished(folder: Path) -> set[Path]:
    """The unfinished runs that have a checkpoint."""
    begun = {path.parent.parent for path in folder.rglob("checkpoints/step-*.safetensors")}
    return {run for run in begun if not (run / "summary.json").exists()}


def wait_for(find: Callable[[], Found | None], sweep: "subprocess.Popen[str]") -> Found:
    """What is found, while a sweep is at work."""
    end = time.monotonic() + PATIENCE
    while (found := find()) is None:
        assert sweep.poll() is None, sweep.communicate()
        assert time.monotonic() < end, "it was waited for in vain"
        time.sleep(0.01)
    return found


def two_at_work(folder: Path, process: int) -> tuple[int, int] | None:
    """The workers below a process, where there are two and the run of each has a checkpoint."""
    workers = descendants(process, "mnemon.runner.worker")
    return (workers[0], workers[1]) if len(workers) == 2 == len(unfinished(folder)) else None


def descendants(process: int, called: str) -> list[int]:
    """The processes that a process has started, and those that they have, with this in their command lines."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has ended
                continue

    def descends(one: int) -> bool:
        return one in parents and (parents[one] == process or descends(parents[one]))

    return [one for one in commands if called in commands[one] and descends(one)]


def parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
