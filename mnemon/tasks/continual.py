"""Continual procedure learning (thesis §7.4.3): one task after the other, with all of them as tests.

The training is in equal shares of the steps, one for each part, and the task of a step follows from its number alone.
Nothing new is then in a checkpoint, and a run that was stopped goes on in the middle of a part as it would have.

All parts must have the same channels; :class:`Widened` gives a task more of them.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.sampling import add_channels


@dataclass(frozen=True, kw_only=True)
class Widened:
    """A task with channels to spare: they are zero in the input, and not asked for in the output."""

    task: AnsweringTask
    input_size: int
    output_size: int

    def __post_init__(self) -> None:
        for kind, size, least in (
            ("input_size", self.input_size, self.task.input_size),
            ("output_size", self.output_size, self.task.output_size),
        ):
            if size < least:
                raise UserError(f"Widened({kind}={size}): write {kind}={least} or more")

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a batch of the task."""
        batch = self.task.sample(batch_size, generator)
        return batch._replace(
            inputs=add_channels(batch.inputs, self.input_size - self.task.input_size),
            targets=add_channels(batch.targets, self.output_size - self.task.output_size),
        )

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The task's, of its own channels."""
        return self.task.loss(self._own(output), self._narrowed(batch))

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The task's, of its own channels."""
        return self.task.metrics(self._own(output), self._narrowed(batch))

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text, errors marked."""
        return self.task.render(self._narrowed(batch), row, None if output is None else self._own(output))

    def _own(self, output: Float[Tensor, "T B O"]) -> Float[Tensor, "T B _"]:
        return output[..., : self.task.output_size]

    def _narrowed(self, batch: Batch) -> Batch:
        return batch._replace(inputs=batch.inputs[..., : self.task.input_size], targets=self._own(batch.targets))


@dataclass(frozen=True, kw_only=True)
class Continual:
    """The parts in turn. Where no step is named it is the first of them."""

    parts: tuple[Widened, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise UserError("Continual has no parts: write one or more")
        if len({(part.input_size, part.output_size) for part in self.parts}) > 1:
            raise UserError("the parts of Continual differ in their channels: write the same sizes for all")

    def at(self, step: int, steps: int) -> Widened:
        """The part of a step, the first being 1; of ``steps`` each part has an equal share, or one more."""
        return self.parts[(step - 1) * len(self.parts) // steps]

    @property
    def input_size(self) -> int:
        """Channels of every part's input."""
        return self.parts[0].input_size

    @property
    def output_size(self) -> int:
        """Channels of every part's output."""
        return self.parts[0].output_size

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a batch of the first part."""
        return self.parts[0].sample(batch_size, generator)

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The first part's."""
        return self.parts[0].loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The first part's."""
        return self.parts[0].metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the first part as text."""
        return self.parts[0].render(batch, row, output)
