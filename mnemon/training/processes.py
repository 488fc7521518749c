"""One process or many: a batch is shared out by rows, and all processes take the step of the whole batch.

Each process answers its own rows; the gradients of their losses, each weighed by its share of what the batch asks for,
are added up. As a task's loss is a mean over the asked steps, that is the gradient of the whole batch, up to rounding.
A process that is gone takes the others with it: they say so and end, and the run goes on from its last checkpoint.

Letters: ``T`` time, ``B`` batch, ``b`` rows of one process, ``O`` output channels.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
from accelerate import Accelerator, InitProcessGroupKwargs  # type: ignore[import-untyped]
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks.base import Batch

PATIENCE = 300.0  # seconds that a process waits for the others; one that died is noticed at once, a dead machine is not


class ProcessLost(UserError):
    """Another process of the run ended, or its machine did."""


def is_first_process() -> bool:
    """Whether this is the one process that writes and prints; alone, it is."""
    return os.environ.get("RANK", "0") == "0"


def make_accelerator(batch_size: int) -> Accelerator:
    """An accelerator for every process that was launched.

    Without ``cpu=True`` accelerate on a machine without GPU takes no notice of torchrun, and each process would train
    a model of its own; so the count is checked as well.
    """
    waiting = InitProcessGroupKwargs(timeout=timedelta(seconds=PATIENCE))
    accelerator = Accelerator(cpu=not torch.cuda.is_available(), kwargs_handlers=[waiting])
    launched = int(os.environ.get("WORLD_SIZE", "1"))
    if accelerator.num_processes != launched:
        raise UserError(
            f"{launched} processes were launched but {accelerator.num_processes} work together:"
            " start them with torchrun, or unset WORLD_SIZE"
        )
    if batch_size % launched:
        raise UserError(
            f"a batch of {batch_size} cannot be shared by {launched} processes: write a multiple of {launched}"
        )
    return accelerator


def own_rows(accelerator: Accelerator, whole: Batch) -> Batch:
    """The rows that this process answers: no other has any of them."""
    ranks = accelerator.num_processes
    return whole if ranks == 1 else whole.every(ranks, accelerator.process_index)


def rows_of_all(accelerator: Accelerator, own: Float[Tensor, "T b O"]) -> Float[Tensor, "T B O"]:
    """The answers of all processes, in the order of the whole batch."""
    if accelerator.num_processes == 1:
        return own
    with together(accelerator):
        parts = accelerator.gather(own.detach().unsqueeze(0).contiguous())
    return torch.stack(parts.unbind(0), dim=2).flatten(1, 2)


def share_of_loss(
    loss: Float[Tensor, ""], output: Float[Tensor, "T b O"], own: Batch, whole: Batch
) -> Float[Tensor, ""]:
    """What the own rows add to the loss of the whole batch."""
    asked = own.mask.sum()
    if not asked:  # then the mean is none, and there is nothing to learn from
        return output.sum() * 0
    return loss * (asked / whole.mask.sum()).to(loss.dtype)


def add_up(accelerator: Accelerator, parameters: Sequence[nn.Parameter], values: Sequence[float]) -> list[float]:
    """Give all processes the sum of their gradients, in place, and of the values; alone, all stays as it is.

    One message carries all of it. A parameter without a gradient in any process is left without.
    """
    if accelerator.num_processes == 1:
        return list(values)
    gradients = [parameter.grad for parameter in parameters]
    learned = torch.tensor([float(gradient is not None) for gradient in gradients], device=accelerator.device)
    pieces = [
        parameter.new_zeros(parameter.numel()) if gradient is None else gradient.reshape(-1)
        for parameter, gradient in zip(parameters, gradients, strict=True)
    ]
    own = torch.tensor(values, dtype=pieces[0].dtype, device=accelerator.device)
    message = torch.cat([*pieces, learned, own])
    with together(accelerator):
        message = accelerator.reduce(message, "sum")
    *added, learned, summed = message.split([*map(len, pieces), len(learned), len(values)])
    for parameter, gradient, by_any in zip(parameters, added, learned.tolist(), strict=True):
        if by_any:
            parameter.grad = gradient.view_as(parameter).to(parameter.dtype)
    return [float(value) for value in summed]


def mean_over_processes(accelerator: Accelerator, values: list[float]) -> list[float]:
    """Each value's mean over all processes; alone, the values themselves."""
    if accelerator.num_processes == 1:
        return values
    with together(accelerator):
        # float64, so that equal numbers stay equal
        shared = accelerator.reduce(torch.tensor(values, dtype=torch.float64, device=accelerator.device), "mean")
    return [float(value) for value in shared]


def wait_for_all(accelerator: Accelerator) -> None:
    """Until every process has come this far."""
    with together(accelerator):
        accelerator.wait_for_everyone()


def refuse_strangers(accelerator: Accelerator, config: Mapping[str, Any], model: nn.Module, done: int) -> None:
    """Refuse processes that were told different things, or found different checkpoints."""
    if accelerator.num_processes == 1:
        return
    told = int(hashlib.sha256(json.dumps(config).encode()).hexdigest()[:12], 16)  # a float64 holds it exactly
    weights = sum(float(parameter.detach().double().sum()) for parameter in model.parameters())
    own = torch.tensor([[done, told, weights]], dtype=torch.float64, device=accelerator.device)
    with together(accelerator):
        all_of_them = accelerator.gather(own)
    for column, what in enumerate(("checkpoints", "settings", "initial weights")):
        if len(set(all_of_them[:, column].tolist())) > 1:
            raise UserError(
                f"the processes of this run have different {what}:"
                " give all of them the same command, and a folder that all of them see"
            )


@contextmanager
def together(accelerator: Accelerator) -> Iterator[None]:
    """Around whatever needs all processes: says what it means when one of them does not answer."""
    try:
        yield
    except RuntimeError as error:
        raise ProcessLost(
            f"process {accelerator.process_index} stops: another of the {accelerator.num_processes} is gone;"
            " see what it said, and start all of them again with --resume to go on from the last checkpoint"
        ) from error
