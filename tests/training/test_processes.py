"""Runs that several processes share, launched by torchrun as a user does."""

import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from safetensors.torch import load_file

from mnemon.errors import UserError
from mnemon.training import checkpoint
from mnemon.training.processes import add_up, make_accelerator, own_rows, rows_of_all, share_of_loss
from mnemon.training.record import read_records
from tests.training.tiny_training import run_tiny, tiny_config, weights_and_records
from tests.training.two_processes import COMMAND, COPY, KILLED_AT, command, gradients

ROOT = str(Path(__file__).parents[2])
PATIENCE = 900.0  # seconds: what hangs must end, and what is slow on a busy machine may go on


class Launch(NamedTuple):
    """What is left of the launch of tests/training/two_processes.py."""

    out: Path
    said: str
    printed: str
    seconds_to_stop: float  # from the end of one process to the end of all


@contextmanager
def torchrun(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A launch, of which nothing is left when a test fails."""
    with subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", *arguments],
        env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()  # if it has not ended; it ends those that it started


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    out = tmp_path_factory.mktemp("two")
    with torchrun("--standalone", "--nproc-per-node", "2", "-m", "tests.training.two_processes", str(out)) as process:
        printed, said = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0  # the last of its runs was killed
    last = (out / "killed" / "records.jsonl").stat().st_mtime
    return Launch(out, said, printed, time.time() - last)


def free_port() -> int:
    """One that is not among those which the system hands out, so that nobody is given it before it is used."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as tried:
            try:
                tried.bind(("", port))
            except OSError:
                continue
            return port


def test_launch_that_accelerate_took_no_notice_of_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    make_accelerator(4)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="2 processes were launched but 1 work together: start them with torchrun"):
        make_accelerator(4)


def test_alone_nothing_is_shared() -> None:
    accelerator = make_accelerator(4)
    batch = COPY.sample(4, torch.Generator())
    assert own_rows(accelerator, batch) is batch
    assert rows_of_all(accelerator, batch.targets) is batch.targets
    parameter = torch.nn.Parameter(torch.ones(2))
    assert add_up(accelerator, [parameter], [0.1, 0.2]) == [0.1, 0.2]
    assert parameter.grad is None


def test_a_process_that_is_asked_nothing_has_nothing_to_add() -> None:
    whole = COPY.sample(4, torch.Generator())
    silent = whole._replace(mask=torch.zeros_like(whole.mask))
    output = torch.zeros_like(whole.targets, requires_grad=True)
    share = share_of_loss(torch.tensor(torch.nan), output, silent, whole)
    share.backward()  # type: ignore[no-untyped-call]
    assert share == 0
    assert output.grad is not None
    assert not output.grad.any()


@pytest.mark.parametrize("name", ["dnc", "dmnc"])
def test_gradients_are_those_of_the_whole_batch(launch: Launch, tmp_path: Path, name: str) -> None:
    """The rows of these batches ask for different numbers of steps, so that means of means would be wrong."""
    gradients(tmp_path, 0)
    alone = load_file(tmp_path / f"{name}-0.safetensors")
    two = [load_file(launch.out / f"{name}-{rank}.safetensors") for rank in (0, 1)]
    found = [key for key in alone if ".gradient." in key]
    assert found
    for key in found:
        assert torch.equal(two[0][key], two[1][key])
        assert (two[0][key] - alone[key]).abs().max() < 1e-9 * max(1.0, float(alone[key].abs().max()))
    one, both = (read_records(folder / name / "records.jsonl") for folder in (tmp_path, launch.out))
    assert [row.loss for row in both] == pytest.approx([row.loss for row in one], rel=1e-9)
    for row, other in zip(one, both, strict=True):
        assert other.metrics == pytest.approx(row.metrics, rel=1e-9)


@pytest.mark.parametrize("name", ["dnc", "dmnc"])
def test_every_row_is_answered_once_and_with_noise_of_its_own(launch: Launch, tmp_path: Path, name: str) -> None:
    gradients(tmp_path, 0)
    alone = load_file(tmp_path / f"{name}-0.safetensors")
    two = [load_file(launch.out / f"{name}-{rank}.safetensors") for rank in (0, 1)]
    for key, whole in alone.items():
        if key.startswith("inputs"):
            for rank, parts in enumerate(two):
                assert torch.equal(parts[key], whole[:, rank::2])
        if key.startswith("noise"):
            assert two[0][key] == whole
            assert two[1][key] != whole


def test_a_run_of_two_goes_on_as_it_would_have(launch: Launch, tmp_path: Path) -> None:
    """To the same bytes, dropout and all; and with the steps and rows of a run alone."""
    assert weights_and_records(launch.out / "extended") == weights_and_records(launch.out / "whole")
    run_tiny(tmp_path / "one", tiny_config(steps=14))
    one, two = (read_records(folder / "records.jsonl") for folder in (tmp_path / "one", launch.out / "whole"))
    assert [(row.kind, row.step, row.test) for row in two] == [(row.kind, row.step, row.test) for row in one]


def test_only_the_first_process_prints(launch: Launch) -> None:
    assert launch.printed.count("ntm on copy") == 1
    assert launch.said.count("from step 0 to 12") == 2  # the whole run and the killed one
    assert launch.said.count(f"kept in {launch.out / 'trained'}") == 1


def test_a_killed_process_stops_the_others_soon_and_clearly(launch: Launch) -> None:
    before, found, _ = launch.said.partition("mnemon: process 0 stops: another of the 2 is gone; see what it said,")
    assert found
    assert "Traceback" not in before  # torchrun's own report follows
    assert launch.seconds_to_stop < 120  # on a busy machine too; one that is silent is borne for five minutes
    assert [path.name for path in (launch.out / "killed" / "checkpoints").iterdir()] == ["step-00000004.safetensors"]
    assert KILLED_AT > 4


def test_two_nodes_go_on_to_the_same_bytes(launch: Launch) -> None:
    """The killed run, resumed by two launches of one process each, as on two machines."""
    folder = launch.out / "resumed"
    shutil.copytree(launch.out / "killed", folder)
    meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{free_port()}"]
    node = [
        "--nnodes",
        "2",
        "--nproc-per-node",
        "1",
        *meeting,
        "-m",
        "mnemon",
        *COMMAND,
        "--out",
        str(folder),
        "--resume",
    ]
    with torchrun(*node) as one, torchrun(*node) as other:
        said = [process.communicate(timeout=PATIENCE) for process in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0), said
    assert sum("ntm on copy" in printed for printed, _ in said) == 1
    assert sum("from step 4 to 12" in told for _, told in said) == 1
    assert weights_and_records(folder) == weights_and_records(launch.out / "trained")


def test_one_process_goes_on_with_the_same_data(launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without noise in the model the numbers differ by the order of additions alone: here a part in 1e5 at most."""
    folder = launch.out / "alone"
    shutil.copytree(launch.out / "killed", folder)
    monkeypatch.setattr(sys, "argv", [])
    command(*COMMAND, "--out", str(folder), "--resume")
    one, two = (read_records(path / "records.jsonl") for path in (folder, launch.out / "trained"))
    assert [(row.kind, row.step, row.test) for row in two] == [(row.kind, row.step, row.test) for row in one]
    assert [row.loss for row in one] == pytest.approx([row.loss for row in two], rel=1e-5)
    last = [
        checkpoint.load(path / "checkpoints" / "step-00000012.safetensors") for path in (folder, launch.out / "trained")
    ]
    for name, value in last[1].tensors.items():
        assert (last[0].tensors[name] - value).abs().max() <= 1e-5 * max(1.0, float(value.abs().max())), name
