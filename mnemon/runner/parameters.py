"""How large a model is: all its parameters, and those that a loss can reach."""

from typing import NamedTuple

import torch
from torch import nn

from mnemon.tasks.base import Task
from mnemon.training.batches import answer, answer_with_losses, draw
from mnemon.training.seeding import batch_seed, seed_noise


class ParameterCounts(NamedTuple):
    """``effective``: in tensors whose gradient on a batch is somewhere not zero."""

    effective: int
    total: int


def count_parameters(
    model: nn.Module, task: Task, batch_size: int, seed: int, *, taught: bool = False
) -> ParameterCounts:
    """Count on the first batch of training, and leave the model as it was.

    ``taught`` feeds a model of views the right tokens, and counts what its own losses reach as well.
    """
    batch = draw(task, batch_size, batch_seed(seed, "train", 1), torch.device("cpu"))
    seed_noise(seed, "train 0", 1)
    if taught:
        output, losses = answer_with_losses(model, batch, teacher=1.0)
        loss = task.loss(output, batch) + sum(losses.values())
    else:
        loss = task.loss(answer(model, batch), batch)
    loss.backward()  # type: ignore[no-untyped-call]
    parameters = list(model.parameters())
    effective = sum(part.numel() for part in parameters if part.grad is not None and bool(part.grad.any()))
    model.zero_grad()
    return ParameterCounts(effective, sum(part.numel() for part in parameters))
