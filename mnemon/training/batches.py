"""Drawing a batch from its seed, and asking a model for its answer to one.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.tasks.base import Batch, Task
from mnemon.training.seeding import generator_from


@runtime_checkable
class ChangingModel(Protocol):
    """A model that changes while it is trained; one that is loaded is as at the end."""

    def begin_step(self, step: int, steps: int) -> None:
        """Called before each step, the first being 1, of so many; from these alone, so that runs resume exactly."""
        ...


def draw(task: Task, batch_size: int, seed: int, device: torch.device, part: int = 0, parts: int = 1) -> Batch:
    """The batch of a seed on a device; with several parts, every ``parts``-th sequence from ``part`` on.

    All processes draw the whole batch and keep their part of it, so that it does not depend on their number.
    """
    batch = task.sample(batch_size, generator_from(seed))
    return (batch if parts == 1 else batch.every(parts, part)).to(device)


def answer(model: nn.Module, batch: Batch, *, teacher: float = 0.0) -> Float[Tensor, "T B O"]:
    """What a model is to the loop: ``output, state = model(inputs, lengths=lengths)``, the output being logits.

    A model of views is ``output, memories = model(views, memories, lengths=lengths, steps=steps)``, called for each
    visit. ``teacher`` is how often it is fed the right tokens rather than its own.
    """
    if batch.visits is None:
        output, _state = model(batch.inputs, lengths=batch.lengths)
        return output  # type: ignore[no-any-return]  # torch types a module's call as Any
    outputs, memories = [], None
    steps = len(batch.mask) // len(batch.visits)
    targets = torch.split(batch.targets.argmax(-1), steps)
    for visit, right in zip(batch.visits, targets, strict=True):
        output, memories = model(
            visit.views, memories, lengths=visit.lengths, steps=steps, targets=right, teacher=teacher
        )
        outputs.append(output)
    return torch.cat(outputs)


def answer_with_losses(model: nn.Module, batch: Batch) -> tuple[Float[Tensor, "T B O"], dict[str, Float[Tensor, ""]]]:
    """What a model with losses of its own is: ``output, state, losses = model(inputs, lengths=lengths, losses=True)``.

    The losses, by name, are part of its answer, so that they cross whatever is wrapped around the model.
    """
    output, _state, losses = model(batch.inputs, lengths=batch.lengths, losses=True)
    return output, losses
