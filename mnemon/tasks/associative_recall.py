"""Associative recall (thesis §7.4.1; Graves et al., 2014): given an item, say which one came after it."""

from dataclasses import dataclass

import torch

from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import bit_names
from mnemon.tasks.sampling import add_channels, draw_between, draw_bits, marker, prompt_then_answer
from mnemon.tasks.settings import check_at_least, check_range


@dataclass(frozen=True, kw_only=True)
class AssociativeRecall(AnsweringTask):
    """Show items of several steps each, then one of them again, and ask for its successor.

    One number of items serves a whole batch; each row has its own query, any item but the last. A delimiter
    comes before each item, and a query delimiter on either side of the query. With items a, b, c of two steps
    each, and the query b::

        step    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14
        input   |  a1 a2 |  b1 b2 |  c1 c2 ?  b1 b2 ?  0  0
        target                                         c1 c2
    """

    bits: int = 6
    item_length: int = 3
    min_items: int = 2
    max_items: int = 6

    def __post_init__(self) -> None:
        check_at_least("AssociativeRecall", 1, bits=self.bits, item_length=self.item_length)
        check_range("AssociativeRecall", 2, min_items=self.min_items, max_items=self.max_items)

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits of an item, the delimiter of items, and the delimiter of the query."""
        return (*bit_names(self.bits), "item", "query")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits of an item."""
        return bit_names(self.bits)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a number of items, the items, then the query of each row."""
        count = draw_between(self.min_items, self.max_items, generator)
        items = draw_bits(count, self.item_length, batch_size, self.bits, generator=generator)
        queries = torch.randint(count - 1, (batch_size,), generator=generator, device=generator.device)
        rows = torch.arange(batch_size, device=generator.device)
        asked, answer = items[queries, :, rows].transpose(0, 1), items[queries + 1, :, rows].transpose(0, 1)

        query = add_channels(asked, 2)
        delimiter, query_delimiter = marker(query, self.bits), marker(query, self.bits + 1)
        listed = [step for item in items for step in (delimiter, add_channels(item, 2))]
        return prompt_then_answer(torch.cat([*listed, query_delimiter, query, query_delimiter]), answer)
