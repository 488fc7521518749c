"""Drawing a batch from its seed, and asking a model for its answer to one.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.tasks.base import Batch, Task
from mnemon.training.seeding import generator_from


def draw(task: Task, batch_size: int, seed: int, device: torch.device, part: int = 0, parts: int = 1) -> Batch:
    """The batch of a seed on a device; with several parts, every ``parts``-th sequence from ``part`` on.

    All processes draw the whole batch and keep their part of it, so that it does not depend on their number.
    """
    batch = task.sample(batch_size, generator_from(seed))
    if parts > 1:
        rows = slice(part, None, parts)
        batch = batch._replace(
            inputs=batch.inputs[:, rows],
            targets=batch.targets[:, rows],
            mask=batch.mask[:, rows],
            lengths=None if batch.lengths is None else batch.lengths[rows],
            groups=None if batch.groups is None else batch.groups[rows],
        )
    return to_device(batch, device)


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The same batch on a device."""
    return Batch(*(None if part is None else part.to(device) for part in batch))  # type: ignore[arg-type]


def answer(model: nn.Module, batch: Batch) -> Float[Tensor, "T B O"]:
    """What a model is to the loop: ``output, state = model(inputs, lengths=lengths)``, the output being logits."""
    output, _state = model(batch.inputs, lengths=batch.lengths)
    return output  # type: ignore[no-any-return]  # torch types a module's call as Any


def answer_with_losses(model: nn.Module, batch: Batch) -> tuple[Float[Tensor, "T B O"], dict[str, Float[Tensor, ""]]]:
    """What a model with losses of its own is: ``output, state, losses = model(inputs, lengths=lengths, losses=True)``.

    The losses, by name, are part of its answer, so that they cross whatever is wrapped around the model.
    """
    output, _state, losses = model(batch.inputs, lengths=batch.lengths, losses=True)
    return output, losses
