"""Encoder-decoders in training: what the decoder is fed, and that a run goes on to the same bytes."""

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.native.rmsprop import RMSProp
from mnemon.tasks.base import Batch
from mnemon.tasks.sum_of_two import SumOfTwo
from mnemon.training.config import TrainConfig
from mnemon.training.interrupt import Interrupted
from mnemon.training.loop import train
from mnemon.training.progress import SilentProgress
from mnemon.training.seeding import batch_seed, generator_from, seed_everything, seed_noise
from tests.training.test_resume import interruptible  # noqa: F401 (a fixture)
from tests.training.tiny_training import tiny_config, weights_and_records

TASK = SumOfTwo(max_length=3, largest=4)


def network(name: str = "dmnc-late") -> Any:
    seed_everything(1)
    config = ModelConfig(name=name, hidden=4, slots=3, word=3, heads=1, embedding=3)
    return build_model(config, TASK.input_size, TASK.output_size)


@dataclass(frozen=True, kw_only=True)
class Interrupting(SumOfTwo):
    """Sends this process a signal while a step draws its batch."""

    step: int

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        if generator.initial_seed() == batch_seed(0, "train", self.step):
            signal.raise_signal(signal.SIGINT)
        return super().sample(batch_size, generator)


def run(out: Path, config: TrainConfig, model: nn.Module, task: SumOfTwo = TASK, *, resume: bool = False) -> None:
    train(model, task, {"same": TASK}, config, out, resume=resume, progress=SilentProgress())


class Listening(nn.Module):
    """A model that keeps what it is told about its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.model = network()
        self.heard: list[tuple[bool, float, Tensor]] = []

    def forward(self, views: Any, memories: Any = None, **options: Any) -> Any:
        self.heard.append((self.training, options["teacher"], options["targets"]))
        return self.model(views, memories, **options)


def test_how_often_the_right_token_is_fed() -> None:
    config = TrainConfig(teacher=0.8, teacher_decay=0.5)
    assert [config.teacher_share(step) for step in (1, 2, 3)] == pytest.approx([0.8, 0.4, 0.2])
    assert TrainConfig(teacher=0.8).teacher_share(1_000) == 0.8
    assert TrainConfig().teacher_share(1) == 0.0
    assert TrainConfig(teacher_decay=0.5).teacher_share(1) == 0.0


def test_the_decoder_is_told_in_training_and_left_alone_in_tests(tmp_path: Path) -> None:
    model = Listening()
    run(tmp_path, tiny_config(teacher=0.8, teacher_decay=0.5, steps=4), model)
    told = [(teacher, targets) for training, teacher, targets in model.heard if training]
    assert [teacher for teacher, _ in told] == pytest.approx([0.8, 0.4, 0.2, 0.1])
    for step, (_, targets) in enumerate(told, start=1):
        batch = TASK.sample(4, generator_from(batch_seed(0, "train", step)))
        assert torch.equal(targets, batch.targets.argmax(-1))
    tested = [teacher for training, teacher, _ in model.heard if not training]
    assert tested
    assert set(tested) == {0.0}


def by_hand(teacher: float) -> nn.Module:
    """Four steps of training, written out; fed with the right tokens, or with the model's own."""
    model = network().train()
    optimiser = RMSProp(model.parameters(), lr=1e-2, alpha=0.95, momentum=0.9, foreach=True)
    for step in range(1, 5):
        batch = TASK.sample(4, generator_from(batch_seed(0, "train", step)))
        assert batch.visits is not None
        seed_noise(0, "train 0", step)
        encoded = model.open(model.encode(batch.visits[0].views, batch.visits[0].lengths))
        decoder, right = model.decoders[0], batch.targets.argmax(-1)
        tokens = right if teacher else decoder.greedy(encoded, len(right))
        fed = decoder.embedding(tokens[:-1])
        output, _ = decoder.rnn(torch.cat([torch.zeros(1, 4, 3), fed]), decoder.begin(encoded))
        optimiser.zero_grad()
        TASK.loss(output, batch).backward()  # type: ignore[no-untyped-call]
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.clamp_(-10, 10)
        optimiser.step()
    return model  # type: ignore[no-any-return]


@pytest.mark.parametrize("teacher", [1.0, None])
def test_a_taught_decoder_sees_the_right_tokens(tmp_path: Path, teacher: float | None) -> None:
    model = network()
    run(tmp_path, tiny_config(steps=4, teacher=teacher), model)
    for name, value in by_hand(teacher or 0.0).state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], value, rtol=1e-5, atol=1e-6)
    other = by_hand(1.0 - (teacher or 0.0)).state_dict()
    assert any(not torch.allclose(value, other[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("name", ["dmnc-late", "dmnc-early", "dnc-single", "seq2seq-attention"])
def test_an_interrupted_run_resumes_to_the_same_bytes(tmp_path: Path, name: str) -> None:
    config = tiny_config(steps=5, teacher=0.5, teacher_decay=0.9)  # by lot: the noise of a step must come again
    run(tmp_path / "whole", config, network(name))
    with pytest.raises(Interrupted):
        run(tmp_path / "cut", config, network(name), Interrupting(max_length=3, largest=4, step=3))
    seed_everything(7)
    run(tmp_path / "cut", config, network(name), resume=True)
    assert weights_and_records(tmp_path / "cut") == weights_and_records(tmp_path / "whole")


@pytest.mark.usefixtures("unchecked")
def test_an_encoder_decoder_learns(tmp_path: Path) -> None:
    task = SumOfTwo(max_length=2, largest=2)
    seed_everything(0)
    config = ModelConfig(name="dmnc-late", hidden=24, slots=4, word=8, heads=1, embedding=8)
    model = build_model(config, task.input_size, task.output_size)
    training = tiny_config(steps=250, batch_size=16, optimiser="adam", eval_every=250, eval_sequences=50)
    result = train(model, task, {"same": task}, training, tmp_path, progress=SilentProgress())
    assert result.metrics["same"]["accuracy"] > 0.9
