"""A real task, a real model and a run of both, small enough for a thousand runs a minute."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mnemon.tasks.base import Batch, Task
from mnemon.training.config import TrainConfig
from mnemon.training.loop import train
from mnemon.training.progress import Progress, SilentProgress
from mnemon.training.seeding import seed_everything
from mnemon.training.summary import TrainResult


@dataclass(frozen=True)
class Delay:
    """Say each input one step later. With ``ragged``, the sequences of a batch differ in length."""

    length: int = 4
    width: int = 2
    ragged: bool = False

    @property
    def input_size(self) -> int:
        return self.width

    @property
    def output_size(self) -> int:
        return self.width

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        inputs = torch.randint(0, 2, (self.length, batch_size, self.width), generator=generator).float()
        targets = functional.pad(inputs, (0, 0, 0, 0, 1, 0))[:-1]
        if not self.ragged:
            return Batch(inputs, targets, torch.ones(self.length, batch_size))
        lengths = torch.randint(1, self.length + 1, (batch_size,), generator=generator)
        mask = (torch.arange(self.length)[:, None] < lengths).float()
        return Batch(inputs, targets, mask, lengths)

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        each = functional.binary_cross_entropy_with_logits(output, batch.targets, reduction="none").mean(-1)
        return ((each * batch.mask).sum(0) / batch.mask.sum(0)).mean()

    def metrics(self, output: Tensor, batch: Batch) -> dict[str, float]:
        wrong = ((output > 0) != (batch.targets > 0.5)).float().sum(-1) * batch.mask
        return {"bit_errors": wrong.sum(0).mean().item(), "solved": (wrong.sum(0) == 0).float().mean().item()}

    def render(self, batch: Batch, row: int = 0, output: Tensor | None = None) -> str:  # noqa: ARG002
        return str(batch.inputs[:, row].tolist())


class TinyModel(nn.Module):
    """A GRU with dropout, so that a run depends on torch's global generator as well."""

    def __init__(self, width: int = 2, dropout: float = 0.2) -> None:
        super().__init__()
        self.gru = nn.GRU(width, 5)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(5, width)

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        del lengths  # a step of this model looks at the past only
        hidden, state = self.gru(inputs)
        return self.head(self.dropout(hidden)), state


def tiny_config(**changes: Any) -> TrainConfig:
    """Ten steps in which rows, evaluations and checkpoints fall on different steps."""
    settings: dict[str, Any] = {
        "steps": 10,
        "batch_size": 4,
        "learning_rate": 1e-2,
        "log_every": 3,
        "eval_every": 4,
        "eval_sequences": 6,
        "checkpoint_every": 2,
        "keep": 2,
    }
    return TrainConfig(**settings | changes)


def tiny_model(dropout: float = 0.2) -> TinyModel:
    seed_everything(1)
    return TinyModel(dropout=dropout)


def run_tiny(
    out: Path,
    config: TrainConfig | None = None,
    *,
    model: nn.Module | None = None,
    task: Task | None = None,
    tests: dict[str, Task] | None = None,
    resume: bool = False,
    run: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> TrainResult:
    """Train, with whatever is not said being tiny."""
    return train(
        model or tiny_model(),
        task or Delay(),
        {"same": Delay(), "longer": Delay(length=7, ragged=True)} if tests is None else tests,
        config or tiny_config(),
        out,
        resume=resume,
        run=run,
        command=["mnemon", "train", "delay"],
        progress=progress or SilentProgress(),
    )


def weights_and_records(out: Path) -> tuple[bytes, bytes]:
    """What must be the same, byte by byte: the last checkpoint and the records."""
    last = max((out / "checkpoints").glob("step-*.safetensors"))
    return last.read_bytes(), (out / "records.jsonl").read_bytes()
