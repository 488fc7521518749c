"""Run by torchrun: what the processes of a launch do together; one launch, as each takes seconds to import torch.

The last of it does not end well: the second process kills itself in the middle of a run.
"""

import dataclasses
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from mnemon.cli import main
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.copy import Copy
from mnemon.training.batches import draw
from mnemon.training.loop import train
from mnemon.training.optimiser import clip
from mnemon.training.progress import SilentProgress
from mnemon.training.seeding import batch_seed, seed_everything
from tests.training import test_views
from tests.training.tiny_training import run_tiny, tiny_config

COPY = Copy(bits=3, min_length=3, max_length=6)
COMMAND = [
    *("train", "copy", "--model", "ntm", "--hidden", "8", "--slots", "6", "--word", "4", "--batch-size", "4"),
    *("--steps", "12", "--log-every", "2", "--eval-every", "6", "--eval-sequences", "3", "--checkpoint-every", "4"),
]
KILLED_AT = 7


@dataclasses.dataclass(frozen=True)
class Doubled:
    """A task in float64 whose rows ask for different numbers of steps."""

    task: Any

    @property
    def input_size(self) -> Any:
        return self.task.input_size

    @property
    def output_size(self) -> int:
        return int(self.task.output_size)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        batch: Batch = self.task.sample(batch_size, generator)
        asked = torch.rand(batch.mask.shape, generator=generator) < 0.6
        mask = batch.mask.double() * asked
        return batch._replace(inputs=batch.inputs.double(), targets=batch.targets.double(), mask=mask)

    def loss(self, output: Tensor, batch: Batch) -> Tensor:
        loss: Tensor = self.task.loss(output, batch)
        return loss

    def metrics(self, output: Tensor, batch: Batch) -> dict[str, float]:
        return dict(self.task.metrics(output, batch))

    def render(self, batch: Batch, row: int = 0, output: Tensor | None = None) -> str:
        return str(self.task.render(batch, row, output))


def memory_model(task: Task) -> nn.Module:
    seed_everything(1)
    config = ModelConfig(name="dnc", hidden=6, slots=4, word=3, heads=1)
    return build_model(config, task.input_size, task.output_size).double()


def gradients(folder: Path, rank: int) -> None:
    """Take steps in float64, and keep the gradients and losses of each, and what this process has seen."""
    cases: dict[str, tuple[Task, nn.Module, dict[str, Any]]] = {
        "dnc": (Doubled(COPY), memory_model(COPY), {}),
        "dmnc": (Doubled(test_views.TASK), test_views.network("dmnc-late").double(), {"teacher": 1.0}),
    }
    for name, (task, model, changes) in cases.items():
        kept: dict[str, Tensor] = {}
        config = tiny_config(steps=2, log_every=1, **changes)
        with _watched(model, kept):
            train(model, task, {}, config, folder / name, progress=SilentProgress())
        save_file(kept, folder / f"{name}-{rank}.safetensors")


@contextmanager
def _watched(model: nn.Module, kept: dict[str, Tensor]) -> Iterator[None]:
    """Keep the gradients that each step is taken with, the inputs, and the seed of the noise."""
    steps = iter(range(1, 3))

    def keep_gradients(config: Any, parameters: Any, norm: Tensor) -> None:
        step = next(steps)
        for index, parameter in enumerate(parameters):
            kept[f"{step}.gradient.{index}"] = parameter.grad.clone()
        clip(config, parameters, norm)

    def keep_inputs(_: nn.Module, inputs: Any) -> None:
        call = sum(name.startswith("inputs") for name in kept)
        seen = inputs[0] if isinstance(inputs[0], Tensor) else inputs[0][0]  # the first of several views
        kept[f"inputs.{call}"] = seen.clone().contiguous()
        kept[f"noise.{call}"] = torch.tensor(torch.initial_seed())

    hook = model.register_forward_pre_hook(keep_inputs)
    with patch("mnemon.training.loop.clip", keep_gradients):
        yield
    hook.remove()


def command(*arguments: str) -> None:
    """``mnemon ARGUMENTS``, in this process."""
    sys.argv = ["mnemon", *arguments]
    main()


def deadly(task: Task, batch_size: int, seed: int, device: torch.device) -> Batch:
    """Draw a batch, but let the second process be killed, as if by the system, at one of the steps."""
    if os.environ["RANK"] == "1" and seed == batch_seed(0, "train", KILLED_AT):
        os.kill(os.getpid(), signal.SIGKILL)
    return draw(task, batch_size, seed, device)


if __name__ == "__main__":
    out, own = Path(sys.argv[1]), int(os.environ["RANK"])
    gradients(out, own)
    run_tiny(out / "whole", tiny_config(steps=14))
    run_tiny(out / "extended")
    run_tiny(out / "extended", tiny_config(steps=14), resume=True)
    command(*COMMAND, "--out", str(out / "trained"))
    with patch("mnemon.training.loop.draw", deadly):
        command(*COMMAND, "--out", str(out / "killed"))
