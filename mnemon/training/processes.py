"""One process or many: what accelerate has to be told, and how the processes agree on a number."""

import os

import torch
from accelerate import Accelerator  # type: ignore[import-untyped]

from mnemon.errors import UserError


def make_accelerator(batch_size: int) -> Accelerator:
    """An accelerator for every process that was launched.

    Without ``cpu=True`` accelerate on a machine without GPU takes no notice of torchrun, and each process would train
    a model of its own; so the count is checked as well.
    """
    accelerator = Accelerator(cpu=not torch.cuda.is_available())
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


def mean_over_processes(accelerator: Accelerator, values: list[float]) -> list[float]:
    """Each value's mean over all processes; alone, the values themselves."""
    if accelerator.num_processes == 1:
        return values
    # float64, so that equal numbers stay equal
    shared = accelerator.reduce(torch.tensor(values, dtype=torch.float64, device=accelerator.device), "mean")
    return [float(value) for value in shared]
