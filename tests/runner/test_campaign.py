"""Campaigns as a user meets them: in processes of their own, stopped, killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mnemon.commands.run import Run
from mnemon.errors import UserError
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.report.results import read_results
from mnemon.report.tables import document, number
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.job import Reading
from mnemon.runner.process import WorkerProcess
from mnemon.training.interrupt import Interrupted
from mnemon.training.lock import only_one_in
from tests.runner.tiny_campaign import BROKEN, LONG, TINY, experiment, run_in_this_process, tiny_job

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
CONTRACT = ["setting", "model", "metric", "mean", "sd", "n", "thesis", "parameters", "scale"]


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.runner.tiny_campaign", "run", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def mnemon_run(*arguments: str, folder: Path) -> tuple[int, str, str]:
    process = start(*arguments, folder=folder)
    out, err = process.communicate()
    return process.returncode, out, err


def steady(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without their times."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


def wait_for(pattern: str, folder: Path) -> None:
    deadline = time.monotonic() + 60
    while not list(folder.glob(pattern)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("tiny")
    remarks = folder / "results/tiny/remarks.md"
    remarks.parent.mkdir(parents=True)
    remarks.write_text("Kept: a folder with remarks alone is as good as an empty one.")
    code, out, err = mnemon_run("tiny", "--seeds", "1", "--json", folder=folder)
    assert code == 0, err
    return folder / "results/tiny", out, err


def test_json_is_one_document_and_keeps_the_contract(tiny: tuple[Path, str, str]) -> None:
    _, out, err = tiny
    printed = json.loads(out)
    assert list(printed) == ["experiment", "rows", "provenance"]
    assert all(list(row)[: len(CONTRACT)] == CONTRACT for row in printed["rows"])
    oracle, lstm, ntm = printed["rows"]
    assert (oracle["n"], oracle["mean"], oracle["thesis"]) == (0, None, 100.0)
    assert (lstm["n"], lstm["sd"], lstm["thesis"], lstm["scale"]) == (1, None, 12.5, 1.0)
    assert 0 <= lstm["mean"] <= 100
    assert 0 < ntm["parameters"] <= ntm["total_parameters"]
    assert printed["provenance"]["command"] == ["mnemon", "run", "tiny", "--seeds", "1", "--scale", "1"]
    assert err.splitlines()[0] == "2 jobs, 0 finished before"
    assert len(err.splitlines()) == 3


def test_finished_jobs_leave_little(tiny: tuple[Path, str, str]) -> None:
    folder, _, _ = tiny
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    ours = [f"jobs/two-items/lstm/seed-0/{name}" for name in ("records.jsonl", "run.json", "summary.json")]
    theirs = [f"jobs/two-items/ntm/seed-0/{name}" for name in ("records.jsonl", "run.json", "summary.json")]
    assert files == ["experiment.json", *ours, *theirs, "jobs/two-items/ntm/seed-0/traces.json", "remarks.md"]
    assert not list(folder.rglob("checkpoints"))


@pytest.mark.usefixtures("unchecked")
def test_processes_change_nothing(tiny: tuple[Path, str, str], tmp_path: Path) -> None:
    run_in_this_process(TINY, tmp_path / "here")
    assert steady(document(read_results(tmp_path / "here"))["rows"]) == steady(json.loads(tiny[1])["rows"])


def test_one_process_for_many_jobs_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Counted(WorkerProcess):
        def __init__(self, lock: int | None = None, threads: int = 1) -> None:
            started.append(lock)
            super().__init__(lock, threads)

    monkeypatch.setattr("mnemon.runner.local.WorkerProcess", Counted)
    written = []
    for processes in (1, 4):
        folder = tmp_path / str(processes)
        Campaign(TINY, folder, seeds=2, scale=1.0).go(resume=False, processes=processes, display=LineDisplay())
        kept = sorted(path for path in folder.rglob("*") if path.name in ("records.jsonl", "traces.json"))
        written.append({str(path.relative_to(folder)): path.read_bytes() for path in kept})
    assert len(written[0]) == 6
    assert written[0] == written[1]
    assert len(started) == 1 + 4


@pytest.mark.parametrize("threads", [1, 2])
def test_processes_have_so_many_threads(tmp_path: Path, threads: int) -> None:
    campaign = Campaign(TINY, tmp_path / "out", seeds=1, scale=1.0, only="LSTM")
    campaign.go(resume=False, processes=1, threads=threads, display=LineDisplay())
    (summary,) = (tmp_path / "out").rglob("summary.json")
    assert json.loads(summary.read_text())["provenance"]["threads"] == threads


def test_resuming_what_is_finished_runs_nothing(
    tiny: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _, _ = tiny
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json")}
    failures = Campaign(TINY, folder, seeds=1, scale=1.0).go(resume=True, processes=2, display=LineDisplay())
    assert failures == []
    assert capsys.readouterr().err == "2 jobs, 2 finished before\n"
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("summary.json")} == before


def test_refusals(tiny: tuple[Path, str, str], tmp_path: Path) -> None:
    folder, _, _ = tiny

    def refused(
        message: str, *, experiment: Any = TINY, out: Path = folder, resume: bool = True, **changes: Any
    ) -> None:
        settings = {"seeds": 1, "scale": 1.0, **changes}
        with pytest.raises(UserError, match=message):
            Campaign(experiment, out, **settings).go(resume=resume, processes=1, display=LineDisplay())

    refused("has records already: add --resume to go on", resume=False)
    refused("has records of scale 1, not 0.5: write --scale 1", scale=0.5)
    refused("has records of tiny", experiment=LONG)
    refused("there is nothing to resume in", out=tmp_path / "new")
    refused("is not empty", out=tmp_path.parent, resume=False)
    refused("seeds must be at least 1, got 0", seeds=0)
    refused("scale is 2: write a number above 0", scale=2.0)
    refused("no job of tiny has 'GRU' in its name: the jobs are two items LSTM; two items NTM", only="GRU")
    changed = tiny_job("two items", "LSTM", learning_rate=0.5)
    other = TINY.__class__(**{**vars(TINY), "jobs": lambda: [changed]})
    refused("summary.json is of a run with another training", experiment=other)
    for processes, threads, message in ((0, 1, "jobs must be at least 1, got 0"), (1, 0, "threads must be at least 1")):
        with pytest.raises(UserError, match=message):
            Campaign(TINY, tmp_path / "new", seeds=1, scale=1.0).go(
                resume=False, processes=processes, threads=threads, display=LineDisplay()
            )
    assert list(tmp_path.iterdir()) == []


def test_one_campaign_at_a_time(tmp_path: Path) -> None:
    with (
        only_one_in(tmp_path),
        pytest.raises(UserError, match="another mnemon is at work"),
        only_one_in(tmp_path, patience=0.0),
    ):
        pass
    with only_one_in(tmp_path, patience=0.0):
        pass


def test_a_failed_job_is_told_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "broken", BROKEN)
    with pytest.raises(SystemExit) as ended:
        Run(experiment="broken", seeds=1, out=tmp_path / "out", json=True).run()
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert [row["n"] for row in json.loads(out)["rows"]] == [0, 1, 0]
    assert "failed: bad, LSTM, seed 0: training stopped at step" in err
    assert "1 of 2 jobs failed" in err


@pytest.mark.usefixtures("unchecked")
def test_interrupted_killed_and_resumed_is_as_if_never_stopped(tmp_path: Path) -> None:
    short, long = (tmp_path / f"out/jobs/{name}/lstm/seed-0" for name in ("short", "long"))

    def interrupt() -> None:
        wait_for("checkpoints/step-*.safetensors", long)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(Interrupted, match=r"1 of 2 jobs are finished and kept in .*out; run the same .* --resume"):
        Campaign(LONG, tmp_path / "out", seeds=1, scale=1.0).go(resume=False, processes=1, display=LineDisplay())
    finished = (short / "summary.json").stat().st_mtime_ns

    options = ("long", "--seeds", "1", "--jobs", "1", "--out", "out", "--resume")
    run = start(*options, folder=tmp_path)
    wait_for("checkpoints/step-00000[2-9]*.safetensors", long)
    run.kill()
    run.communicate()
    assert not (long / "summary.json").exists()

    code, out, said = mnemon_run(*options, "--json", folder=tmp_path)
    assert code == 0, said
    assert "2 jobs, 1 finished before" in said
    assert (short / "summary.json").stat().st_mtime_ns == finished
    run_in_this_process(LONG, tmp_path / "whole")
    assert steady(json.loads(out)["rows"]) == steady(document(read_results(tmp_path / "whole"))["rows"])
    for job in ("short", "long"):
        name = f"jobs/{job}/lstm/seed-0/records.jsonl"
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_finished_run_is_told_by_its_first_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = Reading(setting="two items", metric="bit_errors", percent=False, at=0.5)
    made = experiment("read", replace(tiny_job("two items", "LSTM"), readings=[first, Reading(setting="others")]))
    run_in_this_process(made, tmp_path / "read")
    results = read_results(tmp_path / "read")
    run = next(row.runs[0] for row in results.rows if row.runs)
    display = LineDisplay()
    display.start(results.description, done=0, total=1)
    display.finished("two items, LSTM", run.folder)
    assert f"two items, LSTM: bit errors {number(run.value)} in 0:00:0" in capsys.readouterr().err
