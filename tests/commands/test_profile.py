"""``mnemon profile`` on small runs: what it prints is what the theory gives for the trained model."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from mnemon.cell import CellState
from mnemon.commands.profile import Profile
from mnemon.commands.train import Train
from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.profiles import controller_alone, steps_shown
from mnemon.tasks.catalogue import find_task
from mnemon.theory import contribution, sizing
from mnemon.training import checkpoint
from mnemon.training.seeding import batch_seed, generator_from
from tests.parts import make_rnn, random_input

SMALL = Train(
    task="copy", hidden=6, slots=5, word=3, steps=4, batch_size=2, eval_every=4, eval_sequences=2, checkpoint_every=2
)


@pytest.fixture(scope="module", params=["ntm", "dnc", "lstm"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("runs") / request.param
    dataclasses.replace(SMALL, model=request.param, out=folder).run()
    return folder


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "ntm"
    dataclasses.replace(SMALL, out=folder).run()
    return folder


def profile_of(capsys: pytest.CaptureFixture[str], folder: Path, **settings: Any) -> dict[str, Any]:
    capsys.readouterr()
    Profile(folder=folder, json=True, **settings).run()
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_document(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = profile_of(capsys, run, length=9, samples=3)
    assert document["task"] == "copy"
    assert document["model"]["name"] == run.name
    assert (document["step"], document["length"], document["samples"]) == (4, 9, 3)
    names = [row["of"] for row in document["profiles"]]
    assert names == (["controller", "output"] if run.name == "lstm" else ["controller", "whole state", "output"])
    for row in document["profiles"]:
        assert len(row["contributions"]) == 9
        assert row["average"] == pytest.approx(sum(row["contributions"]) / 9)
        assert row["share"] == pytest.approx(sizing.uniform_contribution(row["lambda_sum"], 9, 0))
    decay = document["prediction"]["lambda"]
    assert decay == document["profiles"][0]["lambda_sum"]
    for row in document["prediction"]["rows"]:
        best = sizing.average_contribution(decay, sizing.uniform_intervals(9, row["slots"]))
        assert row["uniform"] == pytest.approx(best)
        assert row["gain"] == pytest.approx(row["uniform"] / row["regular"])
        assert row["gain"] >= 1 - 1e-9 or decay > 1
    slots = [row["slots"] for row in document["prediction"]["rows"]]
    assert slots == ([0, 1, 2, 4, 8] if run.name == "lstm" else [0, 1, 2, 4, 5, 8])
    advice = sizing.recommend(decay, 9, 0.9)
    assert document["recommended"] == {"target": 0.9, **advice._asdict()}


def test_weights_are_those_of_the_newest_checkpoint(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = profile_of(capsys, run, length=9, samples=3)
    task = find_task("copy").train
    model = build_model(ModelConfig(**document["model"]), task.input_size, task.output_size)
    saved = checkpoint.load(run / "checkpoints/step-00000004.safetensors")
    checkpoint.restore_model(saved, model)
    generator = generator_from(batch_seed(0, "profile", 0))
    batch = task.sample(3, generator)
    while len(batch.inputs) < 9:
        batch = task.sample(3, generator)
    own = contribution.mean_profile(contribution.contributions(model, batch.inputs[:9]))
    assert document["profiles"][-1]["of"] == "output"
    assert document["profiles"][-1]["contributions"] == pytest.approx(own, rel=1e-4)


def test_profiles_repeat_themselves(one_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = (profile_of(capsys, one_run, length=9, samples=3) for _ in range(2))
    other = profile_of(capsys, one_run, length=9, samples=3, seed=1)
    assert first == again
    assert first["profiles"] != other["profiles"]


def test_length_is_the_longest_trained_on_unless_given(one_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 10 < profile_of(capsys, one_run, samples=1)["length"] <= 22  # start, 20 items, end
    assert profile_of(capsys, one_run, samples=1, length=60)["length"] == 60  # from the tests, which are longer


def test_steps_are_shown_up_to_the_last_that_is_not_zero() -> None:
    inputs = torch.zeros(5, 2, 3)
    assert steps_shown(inputs) == 5  # nothing tells an answer from the rest
    inputs[2, 0, 2] = inputs[3, 1, 0] = -1.0
    assert steps_shown(inputs) == 4


def test_what_is_shown_goes_on_to_the_answer(one_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is shown while the copy is asked for: states are those before it, and the answer is what follows."""
    document = profile_of(capsys, one_run, samples=2)
    assert [row["of"] for row in document["profiles"]] == ["controller", "whole state", "output", "answer"]
    assert {len(row["contributions"]) for row in document["profiles"]} == {document["length"]}
    answer = document["profiles"][-1]
    assert answer["average"] > 0
    assert answer["average"] == pytest.approx(sum(answer["contributions"]) / document["length"])
    assert len(profile_of(capsys, one_run, samples=2, length=9)["profiles"]) == 3  # cut off before any answer


def test_tables(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    Profile(folder=run, length=9, samples=2).run()
    printed = capsys.readouterr().out
    for words in (f"{run.name} on copy, step 4: 9 steps, 2 sequences", "controller", "uniform writing", "target 90%"):
        assert words in printed


def test_plot(one_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Profile(folder=one_run, length=9, samples=2, plot=tmp_path / "profile.png").run()
    assert (tmp_path / "profile.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["profile.png"]


def of_controller(state: CellState) -> torch.Tensor:
    return torch.cat([part.flatten(1) for part in state.controller], dim=1)


@pytest.mark.parametrize("controller", ["lstm", "elman", "feed-forward", "fast-weights"])
def test_controller_alone_follows_the_network_but_not_through_its_memory(controller: str) -> None:
    rnn, inputs = make_rnn("ntm", controller), random_input(5, 2, 4)
    _, state = rnn(inputs)
    torch.testing.assert_close(controller_alone(rnn, inputs), of_controller(state))
    alone = contribution.contributions(rnn, inputs, observe=controller_alone)
    whole = contribution.contributions(rnn, inputs, observe=lambda module, given: of_controller(module(given)[1]))
    torch.testing.assert_close(alone[-1], whole[-1])
    assert not torch.allclose(alone[:-1], whole[:-1])
    if controller == "feed-forward":
        assert (alone[:-1] == 0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": 0}, "samples must be at least 1, got 0"),
        ({"length": 1}, "length must be at least 2 steps"),
        ({"length": 1000}, "the task gives no sequences of 1000 steps: write --length 242 or less"),
        ({"target": 1.5, "length": 4}, "target must be a share above 0 and at most 1"),
        ({"plot": Path("profile.pdf")}, "write --plot profile.png"),
        ({"plot": Path("nowhere/profile.png")}, "there is no folder nowhere"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str, one_run: Path) -> None:
    with pytest.raises(UserError) as raised:
        Profile(folder=one_run, **settings).run()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_folders_without_a_run_to_profile(tmp_path: Path) -> None:
    def message() -> str:
        with pytest.raises(UserError) as raised:
            Profile(folder=tmp_path).run()
        return str(raised.value)

    def describe(run: dict[str, Any]) -> None:
        document = {"format": "mnemon run", "version": 1, "config": {"run": run}}
        (tmp_path / "run.json").write_text(json.dumps(document))

    assert "there is no run in" in message()
    model = dataclasses.asdict(ModelConfig())
    describe({"task": "copy"})
    assert "does not name a task and a model" in message()
    describe({"task": "copy", "model": {**model, "colour": 3}})
    assert "does not name a task and a model" in message()
    describe({"task": "cop", "model": model})
    assert "did you mean 'copy'" in message()
    describe({"task": "copy", "model": model})
    assert "has no checkpoint yet" in message()
