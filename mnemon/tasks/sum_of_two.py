"""Sum of two sequences (thesis §4.5.3): y_i = x^1_i + x^2_{L+1−i}, which pairs steps that lie far apart.

Views end with an end token, answers do not: as many sums are asked for as there are. A decoder that must also say where
they end learns far more slowly (docs/views.md).

Letters: ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import exchange, render_exchange, sequence_metrics
from mnemon.tasks.sampling import draw_between
from mnemon.tasks.scoring import class_loss
from mnemon.tasks.settings import check_at_least
from mnemon.views import ViewSizes


@dataclass(frozen=True, kw_only=True)
class SumOfTwo:
    """Two sequences of numbers from 1 to ``largest``; all rows of a batch have one length, drawn for it."""

    max_length: int = 10
    largest: int = 50

    def __post_init__(self) -> None:
        check_at_least("SumOfTwo", 1, max_length=self.max_length, largest=self.largest)

    @property
    def input_size(self) -> ViewSizes:
        """Two views: the numbers and the end."""
        return ViewSizes((self.largest + 1, self.largest + 1), "sequence")

    @property
    def output_size(self) -> int:
        """Every number up to the largest sum."""
        return 2 * self.largest + 1

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a length and the numbers."""
        length = draw_between(1, self.max_length, generator)
        shape = (2, batch_size, length)
        first, second = torch.randint(1, self.largest + 1, shape, generator=generator, device=generator.device)
        sums = first + second.flip(1)
        return exchange([first.tolist(), second.tolist()], sums.tolist(), self.output_size, ended=False)

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked tokens, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``nld``, the normalised Levenshtein distance, and ``accuracy``, the share of right sums."""
        return sequence_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """The numbers of one row."""
        return render_exchange(batch, row, output, ["first", "second"])
