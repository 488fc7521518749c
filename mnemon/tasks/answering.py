"""The kind of task that shows a prompt and then asks for bits: what such tasks share.

Letters: ``T`` time, ``B`` batch, ``O`` output channels.
"""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import render_bits
from mnemon.tasks.scoring import bit_loss, bit_metrics


class AnsweringTask(ABC):
    """Names its channels and draws its batches; the scoring and the drawing of bits follow from those."""

    @property
    @abstractmethod
    def input_channels(self) -> tuple[str, ...]:
        """The names of the input channels."""

    @property
    @abstractmethod
    def output_channels(self) -> tuple[str, ...]:
        """The names of the output channels."""

    @abstractmethod
    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a batch."""

    @property
    def input_size(self) -> int:
        """Channels of the input, I."""
        return len(self.input_channels)

    @property
    def output_size(self) -> int:
        """Channels of the output, O."""
        return len(self.output_channels)

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked bits, in nats."""
        return bit_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """``bit_errors`` per sequence and ``bit_accuracy``."""
        return bit_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text, errors marked."""
        return render_bits(batch, row, output, input_channels=self.input_channels, output_channels=self.output_channels)
