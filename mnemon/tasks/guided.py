"""Tests that look at a task in another way.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from abc import ABC
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.tasks.base import Batch, Task
from mnemon.views import ViewSizes


class Wrapping(ABC):
    """A task around another, which does whatever the outer one does not say."""

    task: Task

    @property
    def input_size(self) -> int | ViewSizes:
        """Of the task."""
        return self.task.input_size

    @property
    def output_size(self) -> int:
        """Of the task."""
        return self.task.output_size

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """A batch of the task."""
        return self.task.sample(batch_size, generator)

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The task's."""
        return self.task.loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The task's."""
        return self.task.metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """As the task does."""
        return self.task.render(batch, row, output)


@dataclass(frozen=True, kw_only=True)
class Guided(Wrapping):
    """A test that feeds a model the right tokens, to bound how likely the right answers are to it.

    The task's loss is to be the mean cross-entropy of an asked token, in nats. The result has the model's own losses,
    such as ``kl``, the divergence of an asked step; ``elbo``, the nats of a sequence less its divergence, a lower bound
    of its log-likelihood; and ``perplexity_bound``, the perplexity of a token by that bound. A model without a latent
    variable has the log-likelihood and the perplexity themselves there.
    """

    task: Task
