"""Priority sort (thesis §7.4.1; Graves et al., 2014): give back items in the order of their priorities.

Letters: ``N`` items, ``B`` batch, ``C`` bits of an item.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import bit_names
from mnemon.tasks.sampling import draw_bits, draw_uniform, prompt_then_answer
from mnemon.tasks.settings import check_at_least


@dataclass(frozen=True, kw_only=True)
class PrioritySort(AnsweringTask):
    """Show items, each with a priority from -1 to 1, and ask for the foremost ones, highest priority first.

    With items a, b, c and two of them asked::

        step             0     1     2    3  4
        input, bits      a     b     c    0  0
        input, priority  -0.3  -0.7  0.9  0  0
        target                            c  a
    """

    bits: int = 8
    items: int = 20
    sorted_items: int = 16

    def __post_init__(self) -> None:
        check_at_least("PrioritySort", 1, bits=self.bits, items=self.items, sorted_items=self.sorted_items)
        if self.sorted_items > self.items:
            raise UserError(
                f"PrioritySort(items={self.items}, sorted_items={self.sorted_items}): "
                f"write sorted_items={self.items} or less"
            )

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits of an item, then its priority."""
        return (*bit_names(self.bits), "priority")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits of an item."""
        return bit_names(self.bits)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw the items, then their priorities."""
        items = draw_bits(self.items, batch_size, self.bits, generator=generator)
        priorities = 2 * draw_uniform(self.items, batch_size, generator=generator) - 1
        prompt = torch.cat([items, priorities.unsqueeze(-1)], dim=-1)
        return prompt_then_answer(prompt, by_priority(items, priorities)[: self.sorted_items])


def by_priority(items: Float[Tensor, "N B C"], priorities: Float[Tensor, "N B"]) -> Float[Tensor, "N B C"]:
    """Whole items in the order of their priorities, highest first; equal priorities keep their order."""
    order = priorities.argsort(dim=0, descending=True, stable=True)
    return items.take_along_dim(order.unsqueeze(-1), dim=0)
