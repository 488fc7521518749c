"""Repeat copy (thesis §7.4.1; Graves et al., 2014): repeat a sequence as often as asked, then end."""

from dataclasses import dataclass
from math import sqrt

import torch

from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import bit_names
from mnemon.tasks.sampling import add_channels, draw_between, draw_bits, marker, prompt_then_answer
from mnemon.tasks.settings import check_at_least, check_range


@dataclass(frozen=True, kw_only=True)
class RepeatCopy(AnsweringTask):
    """Show items, a delimiter and how often to repeat them, then ask for the repeats and an end marker.

    One length and one number of repeats serve a whole batch. The number is shown in units in which a uniform
    draw from ``count_range``, the repeats of training, has mean 0 and variance 1; test settings keep that
    range, so that a number means the same in both. With items a, b and two repeats::

        step    0  1  2          3       4  5  6  7  8
        input   a  b  delimiter  count   0  0  0  0  0
        target                           a  b  a  b  end
    """

    bits: int = 8
    min_length: int = 1
    max_length: int = 10
    min_repeats: int = 1
    max_repeats: int = 10
    count_range: tuple[int, int] = (1, 10)

    def __post_init__(self) -> None:
        check_at_least("RepeatCopy", 1, bits=self.bits)
        check_range("RepeatCopy", 1, min_length=self.min_length, max_length=self.max_length)
        check_range("RepeatCopy", 1, min_repeats=self.min_repeats, max_repeats=self.max_repeats)
        low, high = self.count_range
        check_range("RepeatCopy", 1, **{"count_range[0]": low, "count_range[1]": high})

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits of an item, the delimiter, and the number of repeats."""
        return (*bit_names(self.bits), "delimiter", "count")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits of an item and the end marker."""
        return (*bit_names(self.bits), "end")

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a length and a number of repeats, then the items."""
        length = draw_between(self.min_length, self.max_length, generator)
        repeats = draw_between(self.min_repeats, self.max_repeats, generator)
        items = draw_bits(length, batch_size, self.bits, generator=generator)
        shown = add_channels(items, 2)
        delimiter = marker(shown, self.bits)
        count = marker(shown, self.bits + 1, normalised_count(repeats, self.count_range))
        answer = add_channels(items, 1).repeat(repeats, 1, 1)
        end = marker(answer, self.bits)
        return prompt_then_answer(torch.cat([shown, delimiter, count]), torch.cat([answer, end]))


def normalised_count(repeats: int, count_range: tuple[int, int]) -> float:
    """The number of repeats less the mean of a uniform draw from the range, over its standard deviation."""
    low, high = count_range
    if low == high:  # a range of one number has no spread to divide by
        return float(repeats - low)
    variance = ((high - low + 1) ** 2 - 1) / 12
    return (repeats - (low + high) / 2) / sqrt(variance)
