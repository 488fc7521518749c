"""Variational models in training: weights that rise, several samples, bounds of a guided test, runs that resume."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.native.rmsprop import RMSProp
from mnemon.tasks.guided import Guided
from mnemon.tasks.multi_modal import ModeCoverage, MultiModal
from mnemon.tasks.odd_even import OddEven
from mnemon.training.batches import answer_with_losses
from mnemon.training.config import TrainConfig
from mnemon.training.evaluation import evaluate
from mnemon.training.loop import train
from mnemon.training.progress import SilentProgress
from mnemon.training.record import read_records
from mnemon.training.seeding import batch_seed, generator_from, seed_everything, seed_noise
from tests.training.tiny_training import tiny_config, weights_and_records

TASK = MultiModal(contexts=2, modes=2, length=2, tokens=4, spelling=2, letters=3)


def network(name: str = "vmed", task: Any = TASK) -> Any:
    seed_everything(1)
    config = ModelConfig(name=name, hidden=4, slots=3, word=4, heads=2, embedding=3)
    return build_model(config, task.input_size, task.output_size)


def test_how_the_weight_of_the_divergence_rises() -> None:
    def weights(steps: list[int], **settings: Any) -> list[float]:
        config = TrainConfig(auxiliary=0.5, **settings)
        return [config.auxiliary_weight(step) for step in steps]

    assert weights([1, 5, 10, 99], auxiliary_warmup=10) == pytest.approx([0.05, 0.25, 0.5, 0.5])
    assert weights([1, 3, 5, 9, 10, 11, 13], auxiliary_cycle=10) == pytest.approx([0, 0.2, 0.4, 0.5, 0.5, 0, 0.2])
    assert weights([1, 20, 21, 41, 2_001, 9_999], auxiliary_epoch=20) == pytest.approx([0, 0, 0.005, 0.01, 0.5, 0.5])
    assert weights([1, 3], auxiliary_warmup=2, auxiliary_decay=0.5) == pytest.approx([0.125 * 2, 0.125])
    for bad, message in (
        ({"auxiliary": 1.0, "auxiliary_warmup": 0}, "auxiliary_warmup"),
        ({"auxiliary": 1.0, "auxiliary_warmup": 3, "auxiliary_cycle": 4}, "exclude each other"),
        ({"auxiliary_epoch": 3}, "needs a weight to rise to: write auxiliary=1.0 as well"),
        ({"samples": 0}, "samples"),
    ):
        with pytest.raises(UserError, match=message):
            TrainConfig(**bad)


def test_a_step_minimises_the_negative_bound(tmp_path: Path) -> None:
    config = tiny_config(steps=2, teacher=1.0, auxiliary=1.0, auxiliary_warmup=2, samples=3)
    model, other = network(), network()
    train(model, TASK, {"test": Guided(task=TASK)}, config, tmp_path, progress=SilentProgress())
    optimiser = RMSProp(other.parameters(), lr=1e-2, alpha=0.95, momentum=0.9, foreach=True)
    for step in (1, 2):
        batch = TASK.sample(4, generator_from(batch_seed(0, "train", step))).repeat(3)
        assert batch.mask.shape[1] == 12
        assert torch.equal(batch.targets[:, 0], batch.targets[:, 2])
        seed_noise(0, "train 0", step)
        output, losses = answer_with_losses(other, batch, teacher=1.0)
        optimiser.zero_grad()
        (TASK.loss(output, batch) + 0.5 * step * losses["kl"]).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    for key, value in other.state_dict().items():
        torch.testing.assert_close(model.state_dict()[key], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["vmed", "cvae", "vlstm"])
def test_a_guided_test_bounds_the_likelihood(name: str) -> None:
    """The same numbers from sums over tokens, for a task whose answers differ in length."""
    task = OddEven(max_length=3)
    model = network(name, task)
    found = evaluate(model, Guided(task=task), name="test", sequences=70, seed=0).metrics  # batches of 64 and 6
    nats = divergences = asked = 0.0
    with torch.no_grad():
        for number, rows in enumerate((64, 6)):
            batch = task.sample(rows, generator_from(batch_seed(0, "eval test", number)))
            seed_noise(0, "eval test", number)
            output, losses = answer_with_losses(model.eval(), batch, teacher=1.0)
            logs = torch.log_softmax(output, dim=-1)
            nats -= float((logs * batch.targets).sum(-1)[batch.mask > 0].sum())
            divergences += float(losses["kl"] * batch.mask.sum())
            asked += float(batch.mask.sum())
    assert found["kl"] == pytest.approx(divergences / asked, rel=1e-5)
    assert found["elbo"] == pytest.approx(-(nats + divergences) / 70, rel=1e-5)
    assert found["perplexity_bound"] == pytest.approx(math.exp((nats + divergences) / asked), rel=1e-5)
    assert "nld" in found


def test_a_model_without_a_latent_variable_has_its_likelihood() -> None:
    model = network("seq2seq")
    found = evaluate(model, Guided(task=TASK), name="test", sequences=8, seed=0)
    assert "kl" not in found.metrics
    assert found.metrics["elbo"] == pytest.approx(-3 * found.loss, rel=1e-5)  # two tokens and an end
    assert found.metrics["perplexity_bound"] == pytest.approx(math.exp(found.loss), rel=1e-5)


def test_runs_are_the_same_twice_and_keep_their_bounds(tmp_path: Path) -> None:
    tests = {"bounds": Guided(task=TASK), "coverage": ModeCoverage(task=TASK, samples=4)}
    config = tiny_config(steps=3, teacher=1.0, auxiliary=1.0, auxiliary_cycle=2)
    for folder in ("once", "twice"):
        train(network(), TASK, tests, config, tmp_path / folder, progress=SilentProgress())
    assert weights_and_records(tmp_path / "once") == weights_and_records(tmp_path / "twice")
    last = [record for record in read_records(tmp_path / "once" / "records.jsonl") if record.kind == "eval"]
    assert {"kl", "elbo", "perplexity_bound", "valid", "accuracy"} == set(last[-2].metrics)
    assert {"modes_covered", "valid", "evenness"} == set(last[-1].metrics)


def test_teaching_is_needed(tmp_path: Path) -> None:
    config = tiny_config(steps=1, auxiliary=1.0)
    with pytest.raises(UserError, match="learns from the right tokens: write teacher=1"):
        train(network(), TASK, {}, config, tmp_path, progress=SilentProgress())


def test_shorter_runs_warm_up_sooner() -> None:
    from mnemon.experiments.dialogue import jobs

    job = next(job for job in jobs() if job.model == "CVAE")
    assert job.training.auxiliary_warmup is not None
    assert job.for_run(0, 0.5).training.auxiliary_warmup == job.training.auxiliary_warmup // 2
    assert job.for_run(0, 1.0).training == dataclasses.replace(job.training, seed=0)
