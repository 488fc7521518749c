"""What a traced run leaves, for models with and without programs, on single tasks and sequences of them."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from mnemon.tasks import Copy, Max, RepeatCopy, Sequencing, Task
from tests.runner.tiny_campaign import TASK, experiment, run_in_this_process, tiny_job

BITS = ["input", "target", "answer"]
HEADS = ["write weights, head 1", "read weights, head 1"]
TWO = Sequencing(
    parts=(
        Copy(bits=2, min_length=2, max_length=2),
        RepeatCopy(bits=2, min_length=1, max_length=1, min_repeats=2, max_repeats=2),
    )
)


def trace_of(model: str, folder: Path, task: Task = TASK, **training: Any) -> dict[str, Any]:
    job = tiny_job("a", model, **{"steps": 2, **training})
    job = dataclasses.replace(job, task=task, tests={"same": task}, trace=True)
    run_in_this_process(experiment("tiny", job), folder / "out")
    document: dict[str, Any] = json.loads((folder / "out/jobs/a" / model.lower() / "seed-0/traces.json").read_text())
    return document


def values(document: dict[str, Any], name: str) -> list[list[float]]:
    (found,) = [array["values"] for array in document["arrays"] if array["name"] == name]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("NTM", []),
        ("DNC", ["write gate"]),
        ("NUTM", ["programs, read head 1", "programs, write head 1"]),
        ("NUTM-LRUA", ["programs, store 1"]),
        ("Stack", ["strengths"]),
    ],
)
def test_arrays_are_of_one_sequence(model: str, more: list[str], tmp_path: Path) -> None:
    document = trace_of(model, tmp_path)
    assert [array["name"] for array in document["arrays"]] == [*BITS, *HEADS, *more]
    assert all(len(array["values"]) == 6 for array in document["arrays"])
    assert all(len(row) == 3 for name in HEADS for row in values(document, name))
    assert document["spans"] == [{"name": "input", "start": 0}, {"name": "answer", "start": 4}]


def test_answers_have_their_errors_marked(tmp_path: Path) -> None:
    document = trace_of("NTM", tmp_path)
    shown, target, answer = (values(document, name) for name in BITS)
    (wrong,) = (array["wrong"] for array in document["arrays"] if "wrong" in array)
    assert shown[1][:2] == target[4]
    assert shown[2][:2] == target[5]
    assert [shown[0][2:], shown[3][2:]] == [[1, 0], [0, 1]]
    assert target[:4] == answer[:4] == [[0, 0]] * 4
    assert wrong == [
        [int(asked != given) for asked, given in zip(*rows, strict=True)] for rows in zip(target, answer, strict=True)
    ]


def test_programs_are_distributions(tmp_path: Path) -> None:
    document = trace_of("NUTM", tmp_path)
    for name in ("programs, read head 1", "programs, write head 1"):
        assert all(len(row) == 2 and sum(row) == pytest.approx(1, abs=0.011) for row in values(document, name))


def test_tasks_of_tokens_have_no_bits(tmp_path: Path) -> None:
    document = trace_of("NTM", tmp_path, Max(length=4, largest=3))
    assert [array["name"] for array in document["arrays"]] == HEADS


def test_what_is_kept_of_tokens(tmp_path: Path) -> None:
    """λ, average and share of each state and the answer; whoever has no memory has no more than its controller's."""
    measures = trace_of("DNC", tmp_path / "dnc", Max(length=4, largest=3))["measures"]
    states = ("controller", "whole_state", "output", "answer")
    assert {f"{name}_{state}" for name in ("lambda", "kept", "average") for state in states} < measures.keys()
    assert 0 < measures["lambda_controller"] < 1
    document = trace_of("No-memory", tmp_path / "none", Max(length=4, largest=3))
    assert document["arrays"] == []
    for name in ("lambda", "kept"):
        assert document["measures"][f"{name}_whole_state"] == pytest.approx(document["measures"][f"{name}_controller"])
    other = trace_of("NTM", tmp_path / "bits")
    assert "kept_controller" not in other["measures"]
    assert "right" not in other


def test_right_tokens_by_place(tmp_path: Path) -> None:
    """The same as the accuracy of the last test, place by place; the end is learnt first."""
    training = {"steps": 150, "optimiser": "adam", "learning_rate": 0.01, "eval_sequences": 1000}
    document = trace_of("DNC", tmp_path, Max(length=4, largest=3), **training)
    first, second, end = document["right"]
    assert end == 1.0
    assert 0.2 < first <= 1.0
    assert 0.2 < second <= 1.0
    summary = json.loads((tmp_path / "out/jobs/a/dnc/seed-0/summary.json").read_text())
    assert (first + second + end) / 3 == pytest.approx(summary["metrics"]["same"]["accuracy"], abs=0.05)


def test_states_are_of_several_sequences(tmp_path: Path) -> None:
    document = trace_of("NTM", tmp_path)
    states = document["states"]
    assert states["phases"] == ["input", "answer"]
    assert [point[2:] for point in states["points"]] == [[0, 0], [0, 0.2], [0, 0.4], [0, 0.6], [1, 0.8], [1, 1]] * 4
    assert 0 < states["shares"][1] <= states["shares"][0] <= 1
    assert list(document["measures"]) == ["silhouette", "silhouette_untrained"]
    assert all(-1 <= measured <= 1 for measured in document["measures"].values())


def test_untrained_is_as_training_began(tmp_path: Path) -> None:
    still, moved = (
        trace_of("NTM", tmp_path / str(rate), steps=20, learning_rate=rate)["measures"] for rate in (1e-9, 0.01)
    )
    assert still["silhouette_untrained"] == moved["silhouette_untrained"]
    assert still["silhouette"] == pytest.approx(still["silhouette_untrained"], abs=1e-4)
    assert moved["silhouette"] != pytest.approx(moved["silhouette_untrained"], abs=1e-2)


def test_states_know_their_sub_task(tmp_path: Path) -> None:
    document = trace_of("NUTM", tmp_path, TWO)
    phases = {f"{name}, {kind}" for name in ("copy", "repeat copy") for kind in ("input", "answer")}
    assert set(document["states"]["phases"]) == {"order", *phases}
    assert {span["name"] for span in document["spans"]} == {"order", *phases}
    assert document["spans"][0] == {"name": "order", "start": 0}


def test_long_sequences_leave_few_points(tmp_path: Path) -> None:
    document = trace_of("NTM", tmp_path, Copy(bits=2, min_length=80, max_length=80))
    assert len(document["states"]["points"]) == 4 * 162 / 2
