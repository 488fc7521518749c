"""A run that another experiment has finished is copied, byte for byte, and only that one."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from mnemon.report.results import read_results
from mnemon.report.tables import document, facts
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.runner.run import Run
from mnemon.runner.sharing import take_over
from tests.runner.tiny_campaign import experiment, run_in_this_process, tiny_job

JOB = tiny_job("two items", "NTM")
PLACE = "jobs/two-items/ntm/seed-0"
SECOND = experiment("second", JOB, tiny_job("two items", "LSTM", steps=2))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "first"
    run_in_this_process(experiment("first", JOB), folder)
    return folder


@pytest.fixture
def first(trained: Path, tmp_path: Path) -> Path:
    """The finished experiment, for a test to spoil."""
    return Path(shutil.copytree(trained, tmp_path / "first"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def go(wanted: Experiment, folder: Path, *, resume: bool = False) -> Campaign:
    campaign = Campaign(wanted, folder, seeds=1, scale=1.0)
    assert campaign.go(resume=resume, processes=1, display=LineDisplay()) == []
    return campaign


def is_taken(job: Job, beside: Path, *, seed: int = 0, scale: float = 1.0, experiment: str = "second") -> bool:
    """Whether a run of the job is found beside; where it is not, nothing is written."""
    within = beside.parent / "second"
    run = Run(job=job.for_run(seed, scale), folder=within / "jobs" / job.folder / f"seed-{seed}")
    taken = take_over(run, within, experiment=experiment, scale=scale)
    assert taken == run.folder.exists() == within.exists()
    return taken


def test_a_campaign_takes_over_what_is_the_same_and_trains_the_rest(
    first: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = first.parent / "second"
    go(SECOND, second)
    assert contents(second / PLACE) == contents(first / PLACE)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "2 jobs, 0 finished before"
    assert told[1].startswith("[1/2] two items, NTM, seed 0: bit accuracy")
    assert told[1].endswith(", of first")
    assert told[2].startswith("[2/2] two items, LSTM, seed 0: bit accuracy")
    assert not told[2].endswith(", of first")
    results = read_results(second)
    assert [len(row.values) for row in results.rows] == [0, 1, 1]
    assert document(results)["provenance"]["taken_over"] == {"first": 1}
    assert "1 of the runs was trained for first, from the same settings" in facts(results)


def test_what_was_taken_over_is_finished(first: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = first.parent / "second"
    go(SECOND, second)
    shutil.rmtree(first)
    go(SECOND, second, resume=True)
    assert capsys.readouterr().err.splitlines()[-1] == "2 jobs, 2 finished before"


def test_the_same_job_is_taken_over(first: Path) -> None:
    assert is_taken(JOB, first)


def test_what_the_thesis_says_makes_no_difference(first: Path) -> None:
    assert is_taken(dataclasses.replace(JOB, thesis=None, readings=[Reading(setting="another row")]), first)


@pytest.mark.parametrize(
    "job",
    [
        dataclasses.replace(JOB, config=dataclasses.replace(JOB.config, hidden=5)),
        dataclasses.replace(JOB, training=dataclasses.replace(JOB.training, learning_rate=0.5)),
        dataclasses.replace(JOB, tests={"same": dataclasses.replace(JOB.tests["same"], max_length=3)}),  # type: ignore[type-var]
        dataclasses.replace(JOB, trace=False),
        dataclasses.replace(JOB, setting="three items"),
    ],
    ids=["config", "training", "tests", "trace", "setting"],
)
def test_another_job_is_not(job: Job, first: Path) -> None:
    assert not is_taken(job, first)


def test_another_seed_or_scale_is_not(first: Path) -> None:
    assert not is_taken(JOB, first, seed=1)
    assert not is_taken(JOB, first, scale=0.5)
    assert not is_taken(JOB, first, scale=0.999)  # which has as many steps


def test_another_seed_in_its_place_is_not(first: Path) -> None:
    (first / PLACE).rename(first / PLACE.replace("seed-0", "seed-1"))
    assert not is_taken(JOB, first, seed=1)


@pytest.mark.parametrize("missing", ["summary.json", "traces.json"])
def test_an_unfinished_run_is_not(missing: str, first: Path) -> None:
    (first / PLACE / missing).unlink()
    assert not is_taken(JOB, first)


def test_what_cannot_be_read_is_not(first: Path) -> None:
    summary = first / PLACE / "summary.json"
    damaged = json.loads(summary.read_text())
    damaged["config"]["run"]["job"]["config"]["tails"] = 2
    for text in ("", "{}", json.dumps(damaged)):
        summary.write_text(text)
        assert not is_taken(JOB, first)


def test_an_experiment_is_not_taken_over_by_itself(first: Path) -> None:
    """Whoever runs it again in another folder wants to see whether the same comes out."""
    assert not is_taken(JOB, first, experiment="first")


def test_a_run_that_was_begun_goes_on(first: Path) -> None:
    begun = first.parent / "second" / PLACE
    begun.mkdir(parents=True)
    run = Run(job=JOB.for_run(0, 1.0), folder=begun)
    assert not take_over(run, first.parent / "second", experiment="second", scale=1.0)
    assert list(begun.iterdir()) == []


def test_only_whole_files_are_taken_and_what_a_killed_campaign_left_goes(first: Path) -> None:
    whole = contents(first / PLACE)
    (first / PLACE / "summary.json.partial").write_text("{")
    (first / PLACE / "checkpoints").mkdir()
    left = first.parent / "second" / f"{PLACE}.partial"
    left.mkdir(parents=True)
    (left / "records.jsonl").write_text("half")
    run = Run(job=JOB.for_run(0, 1.0), folder=first.parent / "second" / PLACE)
    assert take_over(run, first.parent / "second", experiment="second", scale=1.0)
    assert contents(run.folder) == whole
    assert [path.name for path in run.folder.parent.iterdir()] == ["seed-0"]
