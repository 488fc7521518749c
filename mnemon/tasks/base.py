"""What a task is: it samples batches from a generator of its own, scores outputs, and prints itself as text.

Letters: ``T`` time, ``B`` batch, ``I`` input channels, ``O`` output channels.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.views import TokenVectors, ViewSizes, Visit


class Batch(NamedTuple):
    """One batch, time first. ``mask`` is 1 at the steps where an answer is asked.

    A task with views has ``visits`` in place of inputs: each is read and answered before the next, and its answer has
    an equal share of the steps.
    """

    inputs: Float[Tensor, "T B I"]
    targets: Float[Tensor, "T B O"]
    mask: Float[Tensor, "T B"]
    lengths: Int[Tensor, "B"] | None = None  # None: all rows are T steps long
    groups: Int[Tensor, "B"] | None = None  # of which kind each row is, where a task scores kinds apart
    subtasks: Int[Tensor, "T"] | None = None  # of which sub-task each step is, where there are several; -1: of none
    visits: tuple[Visit, ...] | None = None

    def every(self, parts: int, first: int) -> "Batch":
        """Every ``parts``-th row from ``first`` on."""
        return self._select(slice(first, None, parts))

    def repeat(self, times: int) -> "Batch":
        """Every row so many times, one after the other."""
        return self._select(torch.arange(self.mask.shape[1], device=self.mask.device).repeat_interleave(times))

    def _select(self, rows: slice | Int[Tensor, "C"]) -> "Batch":
        def cut(visit: Visit) -> Visit:
            return Visit(tuple(view[:, rows] for view in visit.views), tuple(own[rows] for own in visit.lengths))

        return self._replace(
            inputs=self.inputs[:, rows],
            targets=self.targets[:, rows],
            mask=self.mask[:, rows],
            lengths=None if self.lengths is None else self.lengths[rows],
            groups=None if self.groups is None else self.groups[rows],
            visits=None if self.visits is None else tuple(cut(visit) for visit in self.visits),
        )

    def to(self, device: torch.device) -> "Batch":
        """The same batch on a device."""

        def move(part: Any) -> Any:
            if isinstance(part, Tensor):
                return part.to(device)
            if isinstance(part, Visit):
                return Visit(*(move(field) for field in part))
            return tuple(move(each) for each in part) if isinstance(part, tuple) else part

        return Batch(*(move(part) for part in self))


@runtime_checkable
class Task(Protocol):
    """A task knows no model. It is an immutable description; all randomness comes through ``generator``."""

    @property
    def input_size(self) -> int | ViewSizes:
        """Channels of the input, I; or the sizes of its views."""
        ...

    @property
    def output_size(self) -> int:
        """Channels of the output, O."""
        ...

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a batch; the same generator state gives the same batch, whatever happened elsewhere."""
        ...

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """What training minimises: a mean over the steps where an answer is asked.

        Processes that share a batch weigh their parts of it by how many steps these ask for.
        """
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
class PooledTask(Task, Protocol):
    """A task whose results follow from all answers of a test together, as the area under a curve does."""

    def pool(self, output: Float[Tensor, "T B O"], batch: Batch) -> Any:
        """What is needed of a batch."""
        ...

    def measure(self, pooled: Sequence[Any]) -> dict[str, float]:
        """The metrics of a test."""
        ...


@runtime_checkable
class WordTask(Task, Protocol):
    """A task whose tokens are words, of which one knows something beforehand and must know something afterwards."""

    @property
    def word_vectors(self) -> TokenVectors | None:
        """What embeddings begin with; None: there is nothing."""
        ...

    def kept(self) -> dict[str, Any]:
        """What a run keeps, as JSON, so that its model can be used without the data."""
        ...


def known_vectors(task: Task) -> TokenVectors | None:
    """The vectors that a model of the task begins with."""
    return task.word_vectors if isinstance(task, WordTask) else None


@runtime_checkable
class ChangingTask(Task, Protocol):
    """A task that changes while it is trained on; where no step is named it is as at the first."""

    def at(self, step: int, steps: int) -> Task:
        """The task of a step, the first being 1, of so many; from these alone, so that runs resume exactly."""
        ...
