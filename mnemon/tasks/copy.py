"""Copy and long copy (thesis §7.4.1; Graves et al., 2014): repeat a sequence of random items."""

from dataclasses import dataclass

import torch

from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import bit_names
from mnemon.tasks.sampling import add_channels, draw_between, draw_bits, marker, prompt_then_answer
from mnemon.tasks.settings import check_at_least, check_range


@dataclass(frozen=True, kw_only=True)
class Copy(AnsweringTask):
    """Show a start marker, items and an end marker, then ask for the items.

    One length serves a whole batch. With items a, b, c::

        step    0      1  2  3  4    5  6  7
        input   start  a  b  c  end  0  0  0
        target                       a  b  c
    """

    bits: int = 8
    min_length: int = 1
    max_length: int = 20

    def __post_init__(self) -> None:
        check_at_least("Copy", 1, bits=self.bits)
        check_range("Copy", 1, min_length=self.min_length, max_length=self.max_length)

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits of an item, then the two markers."""
        return (*bit_names(self.bits), "start", "end")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits of an item."""
        return bit_names(self.bits)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a length, then the items."""
        length = draw_between(self.min_length, self.max_length, generator)
        items = draw_bits(length, batch_size, self.bits, generator=generator)
        shown = add_channels(items, 2)
        start, end = marker(shown, self.bits), marker(shown, self.bits + 1)
        return prompt_then_answer(torch.cat([start, shown, end]), items)
