"""Jobs over health records, neural and classical, and what encoder-decoders leave of their memories."""

import dataclasses
import json
from pathlib import Path

import pytest

from mnemon.ehr.baselines import ClassicalConfig
from mnemon.errors import UserError
from mnemon.experiments.health_records import TRAINING, drug_jobs, progression_jobs, treatment_jobs
from mnemon.experiments.inside_memories import read_mode_jobs
from mnemon.report.results import read_results
from mnemon.report.traces import trace_pictures
from mnemon.runner.job import Job
from mnemon.runner.sources import DataTask
from mnemon.training.files import read_json
from mnemon.training.record import read_records
from tests.ehr.tiny_records import write_mimic3
from tests.runner.tiny_campaign import experiment, run_in_this_process


def shortened(job: Job) -> Job:
    training = dataclasses.replace(TRAINING, steps=4, batch_size=3, eval_every=1, log_every=1, patience=None)
    if job.classical is not None:
        return dataclasses.replace(job, training=training)
    config = dataclasses.replace(job.config, hidden=5, slots=4, word=3, embedding=3)
    return dataclasses.replace(job, training=training, config=config)


def named(jobs: list[Job], setting: str, *models: str) -> list[Job]:
    return [shortened(job) for job in jobs if job.setting == setting and job.model in models]


def test_models_and_baselines_fill_one_table(tmp_path: Path) -> None:
    write_mimic3(tmp_path / "data", patients=30)
    jobs = named(drug_jobs(), "drugs-set, both", "Binary Relevance", "DMNC_l", "DMNC_e")
    run_in_this_process(experiment("drugs", *jobs), tmp_path / "out", data=tmp_path / "data")
    rows = [row for row in read_results(tmp_path / "out").rows if row.described.folder is not None]
    assert len(rows) == 15
    assert all(row.mean is not None and 0 <= row.mean <= 100 for row in rows)
    assert {row.described.thesis for row in rows if row.described.metric == "p@1"} == {81.0, 92.4, 92.1}


def test_a_reading_where_the_validation_patients_say(tmp_path: Path) -> None:
    write_mimic3(tmp_path / "data", patients=30)
    (job,) = named(treatment_jobs(), "procedures, procedures", "DCw-MANN")
    run_in_this_process(experiment("procedures", job), tmp_path / "out", data=tmp_path / "data")
    row = read_results(tmp_path / "out").rows[0]
    folder = row.runs[0].folder
    tested = [record for record in read_records(folder / "records.jsonl") if record.kind == "eval"]
    losses = {record.step: record.loss for record in tested if record.test == "validation"}
    best = min(losses, key=lambda step: losses[step])
    (value,) = [record.metrics["precision"] for record in tested if (record.test, record.step) == ("test", best)]
    assert row.mean == pytest.approx(value)


def test_classical_jobs_go_through_json() -> None:
    job = drug_jobs()[0]
    assert job.classical == ClassicalConfig(classifier="logistic-regression")
    again = Job.from_json(json.loads(json.dumps(job.to_json())))
    assert (again.classical, again.folder) == (job.classical, job.folder)
    assert "classical" not in treatment_jobs()[-1].to_json()
    with pytest.raises(UserError, match="no classifier is called 'tree'"):
        ClassicalConfig(classifier="tree")


def test_records_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no health records and no eicu_demo"):
        DataTask(name="drugs-set").open(tmp_path)


def test_baselines_answer_what_comes_next_as_often_as_models_do(tmp_path: Path) -> None:
    write_mimic3(tmp_path / "data", patients=30)
    every = named(progression_jobs(), "next-diagnoses, next diagnoses", "Most frequent", "DeepCare")
    run_in_this_process(experiment("next", *every), tmp_path / "out", data=tmp_path / "data")
    frequent, model = (
        read_json(next((tmp_path / "out").glob(f"jobs/*/{name}/seed-0/summary.json")))["metrics"]["test"]
        for name in ("most-frequent", "deepcare")
    )
    assert frequent["samples"] == model["samples"] > 0
    assert frequent["auc_macro"] == 0.5  # the same for all


def test_read_modes_are_shares(tmp_path: Path) -> None:
    jobs = [shortened(job) for job in read_mode_jobs()]
    run_in_this_process(experiment("modes", *jobs), tmp_path / "out")
    results = read_results(tmp_path / "out")
    for model in ("DNC", "DNC (write-protected)", "DC-MANN", "DCw-MANN"):
        for phase in ("encoding", "decoding"):
            shares = [
                row.mean
                for row in results.rows
                if row.described.model == model and row.described.setting.startswith(phase)
            ]
            assert len(shares) == 3
            assert sum(share for share in shares if share is not None) == pytest.approx(100)
    trace = json.loads((results.rows[0].runs[0].folder / "traces.json").read_text())
    assert {array["name"] for array in trace["arrays"]} == {
        "encode, view 1, read modes",
        "encode, view 1, write gate",
        "decode, view 1, read modes",
    }
    assert len(trace_pictures(results)) == 4
