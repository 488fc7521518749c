"""Losses of a model's own reach the loss of training through its output."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.training.config import TrainConfig
from mnemon.training.interrupt import Interrupted
from mnemon.training.loop import train
from mnemon.training.progress import SilentProgress
from mnemon.training.seeding import batch_seed, generator_from, seed_everything, seed_noise
from tests.training.test_resume import SignalDuring
from tests.training.tiny_training import Delay, TinyModel, run_tiny, tiny_config, tiny_model, weights_and_records

ETA, DECAY = 0.3, 0.5


class Shrinking(TinyModel):
    """Says that its weights should be small, but only when asked."""

    def forward(  # type: ignore[override]
        self, inputs: Tensor, *, lengths: Tensor | None = None, losses: bool = False
    ) -> tuple[Tensor, Tensor] | tuple[Tensor, Tensor, dict[str, Tensor]]:
        output, state = super().forward(inputs, lengths=lengths)
        if not losses:
            return output, state
        return output, state, {"head": self.head.weight.square().sum(), "bias": self.head.bias.square().sum()}


def shrinking() -> Shrinking:
    model = Shrinking()
    model.load_state_dict(tiny_model().state_dict())
    return model


def test_weighted_losses_are_part_of_what_is_minimised(tmp_path: Path) -> None:
    model, twin = shrinking(), shrinking().train()
    run_tiny(tmp_path, tiny_config(auxiliary=ETA, auxiliary_decay=DECAY), model=model)
    optimiser = torch.optim.RMSprop(twin.parameters(), lr=1e-2, alpha=0.95, momentum=0.9, foreach=True)
    for step in range(1, 11):
        batch = Delay().sample(4, generator_from(batch_seed(0, "train", step)))
        seed_noise(0, "train 0", step)
        own = twin.head.weight.square().sum() + twin.head.bias.square().sum()
        loss = Delay().loss(twin(batch.inputs)[0], batch) + ETA * DECAY ** (step - 1) * own
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    plain = tiny_model()
    run_tiny(tmp_path / "plain", model=plain)
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, twin.state_dict()[name])
    assert not torch.allclose(model.head.weight, plain.head.weight)


def test_a_model_that_is_not_asked_trains_as_before(tmp_path: Path) -> None:
    run_tiny(tmp_path / "shrinking", model=shrinking())
    run_tiny(tmp_path / "tiny")
    assert weights_and_records(tmp_path / "shrinking") == weights_and_records(tmp_path / "tiny")


def test_the_weight_falls_from_step_to_step() -> None:
    config = TrainConfig(auxiliary=0.1, auxiliary_decay=0.9)
    assert [config.auxiliary_weight(step) for step in (1, 2, 3)] == pytest.approx([0.1, 0.09, 0.081])
    assert TrainConfig(auxiliary=0.1).auxiliary_weight(1_000) == 0.1


def test_a_stored_program_network_resumes_byte_by_byte(tmp_path: Path) -> None:
    def run(out: Path, task: Delay, resume: bool = False) -> None:
        seed_everything(1)
        model = build_model(ModelConfig(name="nutm", hidden=5, slots=4, word=3), 2, 2)
        config = tiny_config(auxiliary=0.1, auxiliary_decay=0.9)
        train(model, task, {"same": Delay()}, config, out, resume=resume, progress=SilentProgress())

    run(tmp_path / "through", Delay())
    with pytest.raises(Interrupted):
        run(tmp_path / "resumed", SignalDuring(step=5))
    run(tmp_path / "resumed", Delay(), resume=True)
    assert weights_and_records(tmp_path / "resumed") == weights_and_records(tmp_path / "through")
