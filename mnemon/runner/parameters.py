"""How large a model is: all its parameters, and those that a loss can reach."""

from typing import NamedTuple

import torch
from torch import nn

from mnemon.tasks.base import Task
from mnemon.training.batches import answer, draw
from mnemon.training.seeding import batch_seed, seed_noise


class ParameterCounts(NamedTuple):
    """``effective``: in tensors whose gradient on a batch is somewhere not zero."""

    effective: int
    total: int


def count_parameters(model: nn.Module, task: Task, batch_size: int, seed: int) -> ParameterCounts:
    """Count on the first batch of training, and leave the model as it was."""
    batch = draw(task, batch_size, batch_seed(seed, "train", 1), torch.device("cpu"))
    seed_noise(seed, "train 0", 1)
    task.loss(answer(model, batch), batch).backward()  # type: ignore[no-untyped-call]
    parameters = list(model.parameters())
    effective = sum(part.numel() for part in parameters if part.grad is not None and bool(part.grad.any()))
    model.zero_grad()
    return ParameterCounts(effective, sum(part.numel() for part in parameters))
