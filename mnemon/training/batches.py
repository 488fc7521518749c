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


def draw(task: Task, batch_size: int, seed: int, device: torch.device) -> Batch:
    """The batch of a seed on a device.

    All processes of a run draw the whole batch and answer their part of it, so that it does not depend on their number.
    """
    return task.sample(batch_size, generator_from(seed)).to(device)


def answer(model: nn.Module, batch: Batch, *, teacher: float = 0.0) -> Float[Tensor, "T B O"]:
    """What a model is to the loop: ``output, state = model(inputs, lengths=lengths)``, the output being logits.

    A model of views is ``output, memories = model(views, memories, lengths=lengths, steps=steps)``, called for each
    visit, and told which of the steps are asked for. ``teacher`` is how often it is fed the right tokens rather than
    its own.
    """
    if batch.visits is not None:
        return _answer_visits(model, batch, teacher, losses=False)[0]
    output, _state = model(batch.inputs, lengths=batch.lengths)
    return output  # type: ignore[no-any-return]  # torch types a module's call as Any


def answer_with_losses(
    model: nn.Module, batch: Batch, *, teacher: float = 0.0
) -> tuple[Float[Tensor, "T B O"], dict[str, Float[Tensor, ""]]]:
    """What a model with losses of its own is: ``output, state, losses = model(inputs, lengths=lengths, losses=True)``.

    The losses, by name, are part of its answer, so that they cross whatever is wrapped around the model. Those of a
    model of views are means over the asked steps.
    """
    if batch.visits is not None:
        return _answer_visits(model, batch, teacher, losses=True)
    output, _state, losses = model(batch.inputs, lengths=batch.lengths, losses=True)
    return output, losses


def _answer_visits(
    model: nn.Module, batch: Batch, teacher: float, *, losses: bool
) -> tuple[Float[Tensor, "T B O"], dict[str, Float[Tensor, ""]]]:
    assert batch.visits is not None
    outputs, memories = [], None
    total: dict[str, Tensor] = {}
    steps = len(batch.mask) // len(batch.visits)
    targets, masks = (torch.split(part, steps) for part in (batch.targets.argmax(-1), batch.mask > 0))
    for visit, right, asked in zip(batch.visits, targets, masks, strict=True):
        options = {"steps": steps, "targets": right, "teacher": teacher, "asked": asked}
        if losses:
            output, memories, own = model(visit.views, memories, lengths=visit.lengths, losses=True, **options)
            for name, loss in own.items():
                total[name] = total.get(name, loss.new_zeros(())) + loss * asked.sum()
        else:
            output, memories = model(visit.views, memories, lengths=visit.lengths, **options)
        outputs.append(output)
    return torch.cat(outputs), {name: loss / batch.mask.sum() for name, loss in total.items()}
