"""Tasks over a set of labelled sequences: read one, then say its class at its last step.

Letters: ``T`` time, ``B`` batch, ``I`` input channels, ``O`` classes, ``N`` examples.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.tasks.base import Batch, Task
from mnemon.tasks.rendering import asked_steps
from mnemon.tasks.scoring import class_loss, class_metrics, wrong_classes


class Splits(NamedTuple):
    """The parts of a data set."""

    train: Task
    validation: Task | None  # taken from the training examples; None: there is none
    test: Task
    more: Mapping[str, Task] = MappingProxyType({})  # tests beside these, by label


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTask(ABC):
    """One part of a data set: what its tasks share."""

    classes: tuple[str, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """How many examples there are, N."""

    @property
    @abstractmethod
    def input_size(self) -> int:
        """Channels of the input, I."""

    @abstractmethod
    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The examples with these numbers."""

    @abstractmethod
    def render_input(self, batch: Batch, row: int) -> str:
        """What is shown to the model, as text."""

    @property
    def output_size(self) -> int:
        """One channel for each class."""
        return len(self.classes)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw examples, each with the same probability; one may come twice."""
        rows = torch.randint(self.size, (batch_size,), generator=generator, device=generator.device)
        return self.batch_of(rows.cpu())

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every example once, in the order of the files."""
        for first in range(0, self.size, batch_size):
            yield self.batch_of(torch.arange(first, min(first + batch_size, self.size)))

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the classes, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right classes."""
        return class_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One example as text, its class and, where given, the model's answer, a wrong one marked."""
        asked = asked_steps(batch, row).index(True)
        lines = [self.render_input(batch, row), f"target  {self._name(batch.targets[asked, row])}"]
        if output is not None:
            mark = " ×" if bool(wrong_classes(output, batch)[asked, row]) else ""
            lines.append(f"answer  {self._name(output[asked, row])}{mark}")
        return "\n".join(lines)

    def _name(self, values: Float[Tensor, "O"]) -> str:
        return self.classes[int(values.argmax())]


def label_at_the_end(
    inputs: Float[Tensor, "T B I"],
    labels: Int[Tensor, "B"],
    classes: int,
    lengths: Int[Tensor, "B"] | None = None,
) -> Batch:
    """A batch that asks for the label of each row at its last step."""
    steps, rows, _ = inputs.shape
    last = (torch.full((rows,), steps) if lengths is None else lengths) - 1
    row = torch.arange(rows)
    targets, mask = inputs.new_zeros(steps, rows, classes), inputs.new_zeros(steps, rows)
    targets[last, row, labels] = 1
    mask[last, row] = 1
    return Batch(inputs, targets, mask, lengths)
