import dataclasses
import json

import pytest

from mnemon.errors import UserError
from mnemon.runner.job import Job, Reading
from mnemon.runner.messages import Assignment, Standing, parse_assignment, parse_standing
from mnemon.tasks.catalogue import TASKS
from mnemon.tasks.repeat_copy import RepeatCopy
from mnemon.training.config import TrainConfig
from tests.runner.tiny_campaign import TASK, TINY, experiment, tiny_job


def test_a_job_goes_through_json_and_comes_back() -> None:
    repeat = RepeatCopy(min_length=1, max_length=2, min_repeats=1, max_repeats=2, count_range=(1, 10))
    job = dataclasses.replace(tiny_job("a", "NTM"), task=repeat, thesis=None, thesis_parameters=None)
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job


def test_settings_newer_than_the_file_have_their_default_and_unknown_ones_are_refused() -> None:
    document = tiny_job("a", "LSTM").to_json()
    del document["config"]["heads"]
    assert Job.from_json(document).config.heads == 1
    document["config"]["tails"] = 1
    with pytest.raises(UserError, match=r"not the settings of a job: .* 'tails'"):
        Job.from_json(document)


@pytest.mark.parametrize("off", [None, False, 0, []])
def test_what_was_switched_off_and_exists_no_more_is_passed_over(off: object) -> None:
    job = tiny_job("a", "LSTM")
    document = job.to_json()
    document["config"]["tails"] = document["training"]["wings"] = off
    assert Job.from_json(document).to_json() == job.to_json()
    document["training"]["wings"] = 2
    with pytest.raises(UserError, match=r"not the settings of a job: .* 'wings'"):
        Job.from_json(document)


def test_the_test_that_counts_is_one_of_the_tests() -> None:
    with pytest.raises(UserError, match=r"no test is called 'other': write one of same"):
        dataclasses.replace(tiny_job("a", "LSTM"), test="other")


@pytest.mark.parametrize(
    ("scale", "steps", "log_every", "eval_every"),
    [(1.0, 10_000, 200, 1_000), (0.5, 5_000, 100, 500), (0.01, 100, 10, 100), (1e-9, 1, 10, 100)],
)
def test_scale_shortens_training(scale: float, steps: int, log_every: int, eval_every: int) -> None:
    training = TrainConfig(steps=10_000, log_every=200, eval_every=1_000)
    run = dataclasses.replace(tiny_job("a", "LSTM"), training=training).for_run(7, scale)
    assert run.training == dataclasses.replace(
        training, seed=7, steps=steps, log_every=log_every, eval_every=eval_every
    )


def test_folders_are_plain_names() -> None:
    assert tiny_job("copy L=50, “hard”", "LSTM").folder == "copy-l-50-hard/lstm"


def test_a_job_fills_as_many_rows_as_it_has_readings() -> None:
    readings = [
        Reading(setting="a, errors", thesis=1.5, metric="bit_errors", percent=False),
        Reading(setting="a, halfway", test="other", at=0.5),
    ]
    tests = {"same": TASK, "other": TASK}
    job = dataclasses.replace(tiny_job("a", "LSTM"), tests=tests, readings=readings)
    errors, halfway = job.rows()
    assert (errors.setting, errors.test, errors.thesis, errors.at) == ("a, errors", "same", 1.5, None)
    assert (halfway.setting, halfway.test, halfway.thesis, halfway.at) == ("a, halfway", "other", None, 0.5)
    assert {row.folder for row in (errors, halfway)} == {"a/lstm"}
    assert "readings" not in job.to_json(), "they do not decide what a run does"
    described = experiment("tiny", job).describe(1.0)
    assert [described.label_of(row) for row in (errors, halfway)] == ["bit errors", "bit accuracy (%)"]
    (alone,) = tiny_job("b", "LSTM").rows()
    assert (alone.setting, alone.thesis, alone.metric) == ("b", 12.5, None)


def test_tasks_made_of_others_go_through_json() -> None:
    for name in ("four-in-sequence", "continual"):
        entry = TASKS[name]
        job = dataclasses.replace(
            tiny_job("a", "NTM"),
            task=entry.train,
            tests=entry.tests,
            test=entry.thesis_test,
            thesis=None,
            thesis_parameters=None,
        )
        assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job


def test_quoted_rows_stand_with_their_setting() -> None:
    rows = TINY.describe(0.5).rows
    assert [(row.setting, row.model) for row in rows] == [
        ("two items", "Oracle"),
        ("two items", "LSTM"),
        ("two items", "NTM"),
    ]


def test_messages_come_back() -> None:
    assignment = Assignment(
        job={"a": 1}, folder="f", data=None, experiment="e", scale=0.5, metric="m", command=["mnemon"]
    )
    assert parse_assignment(assignment.to_line()) == assignment
    standing = Standing(done=1, total=2, loss=0.5)
    assert parse_standing(standing.to_line()) == standing
    assert parse_standing(Standing(loss=float("nan")).to_line()) == Standing()
