"""The records under results/ are those of the experiments as they are: with --resume, none is made again."""

import shutil
from pathlib import Path

import pytest

from mnemon.experiments.catalogue import EXPERIMENTS, find_experiment
from mnemon.report.description import NAME, read_description
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.run import Run, check_same_job, read_trained

RESULTS = Path(__file__).parent.parent.parent / "results"
KEPT = sorted(path.parent.name for path in RESULTS.glob(f"*/{NAME}"))


def test_there_are_some() -> None:
    assert set(KEPT) <= set(EXPERIMENTS)
    assert len(KEPT) >= 10


@pytest.mark.parametrize("name", KEPT)
def test_every_record_is_of_a_job_of_its_experiment(name: str) -> None:
    experiment, scale = find_experiment(name), read_description(RESULTS / name).scale
    jobs = {job.folder: job for job in experiment.work()}
    folders = sorted({path.parent for path in (RESULTS / name / "jobs").rglob("*.json")})
    assert folders
    for folder in folders:
        job = jobs[folder.parent.relative_to(RESULTS / name / "jobs").as_posix()]
        run = Run(job=job.for_run(int(folder.name.removeprefix("seed-")), scale), folder=folder)
        assert run.finished, folder
        assert read_trained(run).scale == scale  # it may have been trained for another experiment
        check_same_job(run)


@pytest.mark.parametrize(("name", "seeds"), [("hopfield-capacity", 5), ("stack-transduction", 3)])
def test_resuming_finds_them_finished(name: str, seeds: int, tmp_path: Path) -> None:
    folder = shutil.copytree(RESULTS / name, tmp_path / name)
    before = {path: path.read_bytes() for path in (folder / "jobs").rglob("*") if path.is_file()}
    assert (
        Campaign(find_experiment(name), folder, seeds=seeds, scale=1.0).go(
            resume=True, processes=1, display=LineDisplay()
        )
        == []
    )
    assert {path: path.read_bytes() for path in (folder / "jobs").rglob("*") if path.is_file()} == before
