"""A model that changes with the steps of its training, as a memory network that starts linear."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.models.memory_network import MemN2N
from mnemon.training.batches import ChangingModel
from mnemon.training.interrupt import Interrupted
from mnemon.training.loop import train
from mnemon.training.progress import SilentProgress
from tests.training.test_resume import SignalDuring
from tests.training.tiny_training import Delay, tiny_config, weights_and_records


class Halved(nn.Module):
    """Gives half of its answer in the first half of the steps."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.scale = 1.0
        self.told: list[tuple[int, int]] = []

    def begin_step(self, step: int, steps: int) -> None:
        self.told.append((step, steps))
        self.scale = 0.5 if 2 * step <= steps else 1.0

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, None]:
        del lengths  # all rows are as long
        return self.scale * self.layer(inputs), None


def run(out: Path, task: Delay, *, steps: int = 10, resume: bool = False) -> Halved:
    torch.manual_seed(0)
    model = Halved()
    train(model, task, {}, tiny_config(steps=steps), out, resume=resume, progress=SilentProgress())
    return model


def test_it_is_told_every_step_and_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    assert isinstance(Halved(), ChangingModel)
    assert isinstance(MemN2N(3, 2, 2), ChangingModel)
    assert not isinstance(nn.Linear(1, 1), ChangingModel)
    assert run(tmp_path / "whole", Delay()).told == [(step, 10) for step in range(1, 11)]
    for stop in (3, 5, 6):
        out = tmp_path / f"cut-{stop}"
        with pytest.raises(Interrupted):
            run(out, SignalDuring(step=stop))
        assert run(out, Delay(), resume=True).told[0] == (stop + 1, 10)
        assert weights_and_records(out) == weights_and_records(tmp_path / "whole")
    with pytest.raises(UserError, match="cannot be extended"):
        run(tmp_path / "whole", Delay(), steps=20, resume=True)
