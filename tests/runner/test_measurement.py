"""Experiments that measure a law: from the command to the table, and on again with --resume."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mnemon.commands.run import Run
from mnemon.errors import UserError
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.laws.base import Measured, measured_from_json
from mnemon.laws.hopfield_capacity import HopfieldCapacity
from mnemon.report.results import read_results
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement, work_from_json
from mnemon.training.files import read_json
from tests.runner.tiny_campaign import run_in_this_process, tiny_job

LAW = HopfieldCapacity(units=20, loads=(0.1, 0.5), probes=2, trials=4)
MEASUREMENT = Measurement(
    setting="20 units",
    model="Hopfield",
    law=LAW,
    readings=[
        Reading(setting="load", metric="load_at_1%_in_one_step", thesis=0.18),
        Reading(setting="lost", metric="load_where_settling_loses_patterns"),
    ],
)
EXPERIMENT = Experiment(
    name="tiny-law",
    title="A law",
    thesis="§0",
    file="tests/runner/test_measurement.py",
    measurements=lambda: [MEASUREMENT],
    metric="load_at_1%_in_one_step",
    percent=False,
    shows="law",
)


def test_a_measurement_goes_through_json_and_comes_back() -> None:
    back = work_from_json(json.loads(json.dumps(MEASUREMENT.for_run(7, 0.5).to_json())))
    assert back == replace(MEASUREMENT, seed=7, readings=(), law=replace(LAW, trials=2))


@dataclass(frozen=True, kw_only=True)
class Foreign:
    def measure(self, seed: int) -> Measured:
        raise NotImplementedError

    def shortened(self, scale: float) -> "Foreign":  # noqa: ARG002
        return self


def test_laws_and_settings_that_do_not_exist_are_named() -> None:
    with pytest.raises(UserError, match="no law in the catalogue is called 'Foreign'"):
        replace(MEASUREMENT, law=Foreign()).to_json()
    document = MEASUREMENT.to_json()
    document["law"]["neurons"] = 3
    with pytest.raises(UserError, match=r"not the settings of a job: .*'neurons'"):
        work_from_json(document)


def test_a_run_leaves_curves_records_and_summary(tmp_path: Path) -> None:
    run_in_this_process(EXPERIMENT, tmp_path / "out", seeds=2)
    folder = tmp_path / "out/jobs/20-units/hopfield/seed-1"
    assert sorted(path.name for path in folder.iterdir()) == ["law.json", "records.jsonl", "run.json", "summary.json"]
    measured = measured_from_json(read_json(folder / "law.json"))
    assert measured == LAW.measure(1)
    load, lost = read_results(tmp_path / "out").rows
    assert load.runs[1].value == measured.metrics["load_at_1%_in_one_step"]
    assert (load.described.thesis, load.described.test, lost.described.thesis) == (0.18, "law", None)
    summary = read_json(folder / "summary.json")
    assert (summary["seed"], summary["loss"], summary["parameters"]) == (1, None, 0)


def test_models_and_laws_may_share_a_table() -> None:
    both = replace(EXPERIMENT, jobs=lambda: [tiny_job("two items", "LSTM")])
    assert [row.model for row in both.describe(1.0).rows] == ["LSTM", "Hopfield", "Hopfield"]


def test_run_resume_and_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(EXPERIMENTS, "tiny-law", EXPERIMENT)
    Run(experiment="tiny-law", seeds=1, scale=0.5, jobs=1, out=tmp_path / "out", json=True).run()
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["setting"], row["thesis"], row["n"], row["scale"]) for row in rows] == [
        ("load", 0.18, 1, 0.5),
        ("lost", None, 1, 0.5),
    ]
    first = tmp_path / "out/jobs/20-units/hopfield/seed-0"
    assert read_json(first / "summary.json")["config"]["run"]["job"]["law"]["trials"] == 2
    Campaign(EXPERIMENT, tmp_path / "out", seeds=1, scale=0.5).go(resume=True, processes=1, display=LineDisplay())
    assert capsys.readouterr().err == "1 jobs, 1 finished before\n"
    changed = replace(EXPERIMENT, measurements=lambda: [replace(MEASUREMENT, law=replace(LAW, probes=1))])
    with pytest.raises(UserError, match=r"summary.json is of a run with another law"):
        Campaign(changed, tmp_path / "out", seeds=1, scale=0.5).go(resume=True, processes=1, display=LineDisplay())
    (first / "law.json").unlink()
    assert not Campaign(EXPERIMENT, tmp_path / "out", seeds=1, scale=0.5).runs[0].finished, "it has lost its curves"
