"""What a task is: it samples batches from a generator of its own, scores outputs, and prints itself as text.

Letters: ``T`` time, ``B`` batch, ``I`` input channels, ``O`` output channels.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Batch(NamedTuple):
    """One batch, time first. ``mask`` is 1 at the steps where an answer is asked."""

    inputs: Float[Tensor, "T B I"]
    targets: Float[Tensor, "T B O"]
    mask: Float[Tensor, "T B"]
    lengths: Int[Tensor, "B"] | None = None  # None: all rows are T steps long
    groups: Int[Tensor, "B"] | None = None  # of which kind each row is, where a task scores kinds apart
    subtasks: Int[Tensor, "T"] | None = None  # of which sub-task each step is, where there are several; -1: of none


@runtime_checkable
class Task(Protocol):
    """A task knows no model. It is an immutable description; all randomness comes through ``generator``."""

    @property
    def input_size(self) -> int:
        """Channels of the input, I."""
        ...

    @property
    def output_size(self) -> int:
        """Channels of the output, O."""
        ...

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a batch; the same generator state gives the same batch, whatever happened elsewhere."""
        ...

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """What training minimises."""
        ...

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """What people read, averaged over the sequences of the batch."""
        ...

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text: inputs, targets and, where given, the model's answer."""
        ...


@runtime_checkable
class FiniteTask(Task, Protocol):
    """A task over a set of examples; a test with it goes through all of them."""

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every example once, always in the same order; the last batch may be smaller."""
        ...


@runtime_checkable
class CountingTask(Task, Protocol):
    """A task whose results are ratios: those of a test follow from all its counts, and are no mean over batches."""

    def counts(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """What can be added up over batches."""
        ...

    def rates(self, counts: dict[str, float]) -> dict[str, float]:
        """The metrics of a test that follow from its counts."""
        ...


@runtime_checkable
class ChangingTask(Task, Protocol):
    """A task that changes while it is trained on; where no step is named it is as at the first."""

    def at(self, step: int, steps: int) -> Task:
        """The task of a step, the first being 1, of so many; from these alone, so that runs resume exactly."""
        ...
