"""Sweeps and searches on real Ray clusters, whose processes are killed."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mnemon.runner.campaign import Campaign
from mnemon.runner.rates import FINISHED, STOPPED, choose, read_rates
from tests.sweep.runs import assert_same, descendants, parent, run_two, summary, two_at_work, wait_for
from tests.sweep.tiny_sweep import ENVIRONMENT, PATIENCE, TWO, started

OPTIONS = ("sweep", "two", "--seeds", "2", "--scale", "0.2", "--out", "out", "--json")
CLUSTER = """
import sys
import ray
from mnemon.sweep.cluster import connected
with connected("", 2):
    print(ray.get_runtime_context().gcs_address, flush=True, file=sys.__stdout__)
    input()
"""


@pytest.fixture(scope="module", autouse=True)
def ray_folder() -> Iterator[Path]:
    """For Ray's own files; the names of its sockets leave no room for a long one."""
    folder = tempfile.mkdtemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENVIRONMENT, "RAY_TMPDIR", folder)
        patch.setitem(ENVIRONMENT, "RAY_AUTH_MODE", "token")  # for the clusters of these tests alone
        patch.setitem(ENVIRONMENT, "RAY_AUTH_TOKEN", secrets.token_hex(32))
        yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


class Cluster(NamedTuple):
    process: int
    address: str


@pytest.fixture(scope="module")
def cluster(ray_folder: Path) -> Iterator[Cluster]:
    """One that is there before mnemon comes, and stays when it goes."""
    with (
        (ray_folder / "said.txt").open("w+") as said,
        subprocess.Popen(
            [sys.executable, "-c", CLUSTER],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, (ray_folder / "said.txt").read_text()
        yield Cluster(process.pid, address)
        process.communicate("the end\n")


def test_killed_workers_lose_nothing(tmp_path: Path, cluster: Cluster) -> None:
    """One of ours, and one of Ray's with what it waits for: both jobs go on from their checkpoints."""
    out = tmp_path / "out"
    with started(*OPTIONS, "--address", cluster.address, folder=tmp_path) as sweep:
        ours, another = wait_for(lambda: two_at_work(out, cluster.process), sweep)
        os.kill(ours, signal.SIGKILL)
        os.kill(parent(another), signal.SIGKILL)
        printed, said = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 0, said
    assert [row["n"] for row in json.loads(printed)["rows"]] == [0, 2, 2]
    resumed = [summary(path.parent)["resumed_from"] for path in out.rglob("summary.json")]
    assert len(resumed) == 4
    assert any(resumed)
    run_two(tmp_path / "whole", seeds=2, scale=0.2)
    assert_same(out, tmp_path / "whole")


def test_a_killed_head_loses_no_finished_job(tmp_path: Path, cluster: Cluster) -> None:
    out = tmp_path / "out"
    with started(*OPTIONS, folder=tmp_path) as first:  # with a cluster of its own
        wait_for(lambda: next(out.rglob("summary.json"), None), first)
        for process in [*descendants(first.pid, "gcs_server"), *descendants(first.pid, "raylet/raylet"), first.pid]:
            os.kill(process, signal.SIGKILL)
        first.communicate(timeout=PATIENCE)
    finished = {path: path.stat().st_mtime_ns for path in out.rglob("summary.json")}
    with started(*OPTIONS, "--resume", "--address", cluster.address, folder=tmp_path) as second:
        printed, said = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, said
    assert [row["n"] for row in json.loads(printed)["rows"]] == [0, 2, 2]
    assert finished
    assert {path: path.stat().st_mtime_ns for path in finished} == finished


def test_a_search_keeps_every_trial_and_its_choice(tmp_path: Path, cluster: Cluster) -> None:
    options = ("--search", "learning-rate", "--only", "LSTM", "--lowest", "1e-4", "--highest", "1e-1", "--trials", "2")
    where = ("--scale", "0.1", "--address", cluster.address, "--out", "out")
    with started("sweep", "two", *options, *where, folder=tmp_path) as search:
        _, said = search.communicate(timeout=PATIENCE)
    assert search.returncode == 0, said
    found = read_rates(tmp_path / "out")
    (job,) = found.jobs
    assert (found.experiment, found.seed, job.folder, job.own) == ("two", 1_000, "two-items/lstm", 1e-4)
    assert [trial.learning_rate for trial in job.trials] == [1e-4, 1e-1]
    assert all(trial.ended in (FINISHED, STOPPED) for trial in job.trials)
    assert job.chosen == choose(job.trials) is not None
    assert f"two items, LSTM: {job.chosen:g} (its own: 0.0001)" in said
    assert "--rates" in said.splitlines()[-1]
    chosen = tmp_path / f"out/trials/two-items/lstm/rate-{job.chosen:g}"
    assert summary(chosen)["seed"] == 1_000
    assert not list(tmp_path.rglob("*.pkl"))
    campaign = Campaign(TWO, tmp_path / "runs", seeds=1, scale=1.0, only="LSTM", rates=found)
    assert campaign.runs[0].job.to_json()["training"]["learning_rate"] == job.chosen
