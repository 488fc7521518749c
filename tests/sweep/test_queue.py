"""Jobs in submitit's queue on this machine, really; and what is refused before any queue is asked."""

import os
import shutil
import signal
import stat
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.sweep.queue_crew import QueueCrew
from tests.runner.tiny_campaign import BROKEN
from tests.sweep.runs import assert_same, parent, run_two, summary, two_at_work, unfinished, wait_for
from tests.sweep.tiny_sweep import PATIENCE, started


def queue(folder: Path, *, retries: int = 0, settings: tuple[str, ...] = ()) -> QueueCrew:
    return QueueCrew("local", folder, at_once=2, retries=retries, minutes=10, gpus=0, settings=settings)


def test_jobs_whose_time_is_up_or_that_are_killed_go_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("sweep", "two", "--seeds", "1", "--scale", "0.2", "--out", "out", "--executor", "local")
    with started(*options, folder=tmp_path) as sweep:
        workers = wait_for(lambda: two_at_work(out, sweep.pid), sweep)
        out_of_time, killed = (parent(worker) for worker in workers)
        os.kill(out_of_time, signal.SIGUSR2)  # as SLURM does before the limit
        os.kill(killed, signal.SIGKILL)
        begun, mode = unfinished(out), stat.S_IMODE((out / "queue").stat().st_mode)
        _, said = sweep.communicate(timeout=PATIENCE)
    assert sweep.returncode == 0, said
    assert mode == 0o700
    assert not (out / "queue").exists()
    assert len(begun) == 2
    assert all(summary(run)["resumed_from"] > 0 for run in begun)
    run_two(tmp_path / "whole", seeds=1, scale=0.2)
    assert_same(out, tmp_path / "whole")


def test_a_failed_job_is_tried_again_then_told_and_leaves_its_log_but_no_pickle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign = Campaign(BROKEN, tmp_path / "out", seeds=1, scale=1.0, only="bad")
    (failure,) = campaign.go_with(queue(campaign.folder, retries=1), resume=False, display=LineDisplay())
    assert failure.reason.startswith("training stopped at step")
    assert f"failed: bad, LSTM, seed 0: {failure.reason}" in capsys.readouterr().err
    kept = [path.name for path in (campaign.folder / "queue").iterdir()]
    assert len([name for name in kept if name.endswith("_log.err")]) == 2
    assert not [name for name in kept if name.endswith(".pkl")]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--slurm partition: write settings such as partition=gpu"):
        queue(tmp_path, settings=("partition",))
    with pytest.raises(UserError, match="--slurm mem=1\n#SBATCH: write settings"):
        queue(tmp_path, settings=("mem=1\n#SBATCH",))
    with pytest.raises(UserError, match=r"--slurm: Unknown argument 'colour' for executor 'slurm'"):
        queue(tmp_path, settings=("colour=red",)).start(0)
    with pytest.raises(UserError, match="minutes must be at least 1, got 0"):
        QueueCrew("local", tmp_path, at_once=1, retries=0, minutes=0, gpus=0)
    if shutil.which("srun") is None:
        with pytest.raises(UserError, match="there is no SLURM here"):
            QueueCrew("slurm", tmp_path, at_once=1, retries=0, minutes=1, gpus=0).start(0)
