"""Odd-even (thesis §4.5.1): odd numbers in, even numbers out, the first half from the input, the rest from themselves.

    y_n = 2 x_n for n ≤ ⌊L/2⌋,      y_n = y_{n−1} + 2 after it

Deviations: for L = 1, where the text leaves the first without one before it, y_1 = 2 x_1. The values reach 98 + 20 =
118; the text says 98. Input and answer end with an end token.

Letters: ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import exchange, render_exchange, sequence_metrics
from mnemon.tasks.sampling import draw_between
from mnemon.tasks.scoring import class_loss
from mnemon.tasks.settings import check_at_least
from mnemon.views import ViewSizes

ODD = range(1, 50, 2)


@dataclass(frozen=True, kw_only=True)
class OddEven:
    """Sequences of odd numbers, none twice. The token of an odd number x is (x + 1)/2, that of an even one y/2."""

    max_length: int = 20

    def __post_init__(self) -> None:
        check_at_least("OddEven", 1, max_length=self.max_length)
        if self.max_length > len(ODD):
            raise UserError(f"OddEven(max_length={self.max_length}): write {len(ODD)} or less, no number comes twice")

    @property
    def input_size(self) -> ViewSizes:
        """One view: the odd numbers and the end."""
        return ViewSizes((1 + len(ODD),), "sequence")

    @property
    def output_size(self) -> int:
        """The even numbers as far as they come, and the end."""
        return 1 + max(ODD) + (self.max_length + 1) // 2

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw lengths and numbers."""
        inputs, answers = [], []
        for _ in range(batch_size):
            length = draw_between(1, self.max_length, generator)
            order = torch.randperm(len(ODD), generator=generator, device=generator.device)[:length].tolist()
            numbers = [ODD[place] for place in order]
            inputs.append([(number + 1) // 2 for number in numbers])
            answers.append([number // 2 for number in even_numbers(numbers)])
        return exchange([inputs], answers, self.output_size)

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked tokens, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``nld``, the normalised Levenshtein distance, and ``accuracy``."""
        return sequence_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """The tokens of one row."""
        return render_exchange(batch, row, output, ["odd"])


def even_numbers(odd: list[int]) -> list[int]:
    """What is asked for."""
    answer: list[int] = []
    for place, number in enumerate(odd, start=1):
        answer.append(2 * number if place <= max(1, len(odd) // 2) else answer[-1] + 2)
    return answer
