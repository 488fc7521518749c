"""Stopping at the first number that is not finite, and naming the tensor that holds it.

A healthy step pays for one look at the loss and at the norm of the gradients; the search through all tensors happens
only when that look fails.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks.base import Batch


class TrainingStopped(UserError):
    """A number was not finite. The last checkpoint is from before, and is left as it was."""

    def __init__(self, step: int, seed: int, tensor: str, checkpoint: Path | None) -> None:
        kept = f"the last good checkpoint is {checkpoint}" if checkpoint else "no checkpoint was written yet"
        super().__init__(
            f"training stopped at step {step} (batch seed {seed}): {tensor} is not finite;"
            f" lower the learning rate or clip the gradients more; {kept}"
        )
        self.step = step
        self.seed = seed
        self.tensor = tensor


def offender(model: nn.Module, batch: Batch, output: Tensor, loss: Tensor) -> str:
    """The first tensor that is not finite, in the order in which one would have spoilt the next."""
    for name, tensor in _in_order(model, batch, output, loss):
        if not torch.isfinite(tensor).all():
            return name
    return "the norm of the gradients"  # each is finite, and too large for their squares to be


def spoilt_parameter(model: nn.Module) -> str | None:
    """The first parameter that is not finite: asked before a checkpoint is written, so that it is a good one."""
    for name, parameter in model.named_parameters():
        if not torch.isfinite(parameter).all():
            return f"parameter {name!r}"
    return None


def _in_order(model: nn.Module, batch: Batch, output: Tensor, loss: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield "the batch's inputs", batch.inputs
    yield "the batch's targets", batch.targets
    for name, parameter in model.named_parameters():
        yield f"parameter {name!r}", parameter
    yield "the model's output", output
    yield "the loss", loss
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            yield f"the gradient of {name!r}", parameter.grad
