import os
import subprocess
import sys
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.training import checkpoint
from mnemon.training.processes import make_accelerator
from mnemon.training.record import read_records
from tests.training.test_views import network, run
from tests.training.tiny_training import run_tiny, tiny_config, tiny_model


def test_launch_that_accelerate_took_no_notice_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    make_accelerator(4)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="2 processes were launched but 1 work together: start them with torchrun"):
        make_accelerator(4)


def launch_two(*arguments: str) -> None:
    """Run tests/training/two_processes.py in two processes that work together."""
    root = str(Path(__file__).parents[2])
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    done = subprocess.run(
        [sys.executable, *launch, "tests.training.two_processes", *arguments],
        env={**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    """They share each batch, so that the run is the same but for the order in which gradients are added."""
    run_tiny(tmp_path / "one", tiny_config(steps=14), model=tiny_model(dropout=0.0))
    launch_two(str(tmp_path / "two"))
    one, two = (read_records(tmp_path / name / "records.jsonl") for name in ("one", "two"))
    assert [(row.kind, row.step, row.test) for row in two] == [(row.kind, row.step, row.test) for row in one]
    assert [row.loss for row in two] == pytest.approx([row.loss for row in one], rel=1e-4)
    for row, other in zip(one, two, strict=True):
        assert other.metrics == pytest.approx(row.metrics, rel=1e-4)
    last = [checkpoint.load(tmp_path / name / "checkpoints/step-00000014.safetensors") for name in ("one", "two")]
    for name, value in last[0].tensors.items():
        assert (last[1].tensors[name] - value).abs().max() < 1e-4


def test_two_processes_train_an_encoder_decoder_as_one(tmp_path: Path) -> None:
    run(tmp_path / "one", tiny_config(steps=4, teacher=1.0), network("dmnc-late"))
    launch_two(str(tmp_path / "two"), "dmnc-late")
    one, two = (read_records(tmp_path / name / "records.jsonl") for name in ("one", "two"))
    assert [row.loss for row in two] == pytest.approx([row.loss for row in one], rel=1e-4)
