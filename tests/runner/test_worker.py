"""What a job leaves, run in this process."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.report.curves import learning_curve
from mnemon.report.results import read_results
from mnemon.report.tables import document
from mnemon.runner.campaign import Campaign
from mnemon.runner.job import Job, Reading
from mnemon.runner.parameters import count_parameters
from mnemon.runner.sources import DataTask
from mnemon.training.record import read_records
from tests.data.tiny_data import write_csv, write_glove
from tests.runner.tiny_campaign import TASK, experiment, run_in_this_process, tiny_job


def data_job() -> Job:
    return dataclasses.replace(tiny_job("yelp", "LSTM"), task=DataTask(name="yelp-polarity"), tests={}, test="test")


def test_a_job_over_a_data_set(tmp_path: Path) -> None:
    texts = [(1 + row % 2, "good" if row % 2 else "bad") for row in range(12)]
    for part in ("train", "test"):
        write_csv(tmp_path / f"data/yelp_review_polarity_csv/{part}.csv", texts)
    write_glove(tmp_path / "data/glove.txt", {"good": (1.0, 0.0), "bad": (-1.0, 0.5)})
    tested = dataclasses.replace(experiment("yelp", data_job()), metric="accuracy")
    run_in_this_process(tested, tmp_path / "out", data=tmp_path / "data")
    assert len(read_results(tmp_path / "out").rows[1].values) == 1


def test_jobs_over_data_go_through_json_and_need_a_folder(tmp_path: Path) -> None:
    job = dataclasses.replace(data_job(), thesis=None, thesis_parameters=None)
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    with pytest.raises(UserError, match="yelp needs data: write --data and the folder"):
        Campaign(experiment("yelp", job), tmp_path / "out", seeds=1, scale=1.0)
    with pytest.raises(UserError, match="no task over a data set is called 'yelp'"):
        DataTask(name="yelp")


def test_rows_of_one_run(tmp_path: Path) -> None:
    """Its end, another metric of it, a test on the way, and one that never was."""
    readings = [
        Reading(setting="end"),
        Reading(setting="errors", metric="bit_errors", percent=False),
        Reading(setting="halfway", at=0.5),
        Reading(setting="never", at=0.25),
    ]
    job = dataclasses.replace(tiny_job("a", "LSTM"), readings=readings)
    run_in_this_process(experiment("tiny", job), tmp_path / "out")
    results = read_results(tmp_path / "out")
    rows = {row.described.setting: row for row in results.rows}
    folder = tmp_path / "out/jobs/a/lstm/seed-0"
    tested = {record.step: record.metrics for record in read_records(folder / "records.jsonl") if record.test}
    assert list(tested) == [30, 60]
    assert rows["end"].values == [100 * tested[60]["bit_accuracy"]]
    assert rows["errors"].values == [tested[60]["bit_errors"]]
    assert rows["halfway"].values == [100 * tested[30]["bit_accuracy"]]
    assert rows["never"].values == []
    assert [row["metric"] for row in document(results)["rows"]][:2] == ["bit accuracy (%)", "bit errors"]
    assert learning_curve(results, rows["halfway"]) is None
    curve = learning_curve(results, rows["errors"])
    assert curve is not None
    assert curve.steps == [20, 40, 60]  # of the training batches, as there are two tests only


class HalfUsed(nn.Module):
    """A model in which one layer is not called, and one is multiplied by zero."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(4, 2)
        self.ignored = nn.Linear(4, 100)
        self.silenced = nn.Linear(4, 2)

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        shifted = inputs + 1  # the input is zero where the task asks
        return self.used(shifted) + 0 * self.silenced(shifted), lengths


def test_effective_parameters_are_those_that_a_loss_reaches() -> None:
    model = HalfUsed()
    before = [parameter.clone() for parameter in model.parameters()]
    assert count_parameters(model, TASK, 3, 0) == (10, 10 + 500 + 10)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(torch.equal(*pair) for pair in zip(before, model.parameters(), strict=True))
