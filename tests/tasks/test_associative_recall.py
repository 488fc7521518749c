from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import AssociativeRecall, Batch

Item = list[list[float]]


def test_channels() -> None:
    assert (AssociativeRecall().input_size, AssociativeRecall().output_size) == (8, 6)


def read_row(batch: Batch, row: int, bits: int) -> tuple[list[Item], Item, Item]:
    """The items, the query and the answer of a row, walking its steps and checking each delimiter."""
    items: list[Item] = []
    query: Item = []
    answer: Item = []
    queries = 0
    for step, target, asked in zip(
        batch.inputs[:, row].tolist(), batch.targets[:, row].tolist(), batch.mask[:, row].tolist(), strict=True
    ):
        item_delimiter, query_delimiter = step[bits:]
        if asked:
            assert queries == 2
            assert not any(step)
            answer.append(target)
            continue
        assert not any(target)
        assert set(step) <= {0.0, 1.0}
        if item_delimiter:
            assert queries == 0
            assert sum(step) == 1
            items.append([])
        elif query_delimiter:
            assert sum(step) == 1
            queries += 1
        else:
            assert queries < 2
            (query if queries else items[-1]).append(step[:bits])
    return items, query, answer


@given(st.integers(6, 8), st.integers(3, 5), st.integers(2, 4), st.integers(0, 3), st.integers(0, 1000))
def test_the_answer_follows_the_query(bits: int, length: int, low: int, more: int, seed: int) -> None:
    task = AssociativeRecall(bits=bits, item_length=length, min_items=low, max_items=low + more)
    batch = task.sample(3, torch.Generator().manual_seed(seed))
    counts = set()
    for row in range(3):
        items, query, answer = read_row(batch, row, bits)
        assert {len(item) for item in (*items, query, answer)} == {length}
        successors = [after for item, after in pairwise(items) if item == query]
        assert answer in successors
        counts.add(len(items))
    (count,) = counts
    assert low <= count <= low + more
    assert len(batch.inputs) == count * (1 + length) + 1 + length + 1 + length


def test_each_row_has_its_own_query_and_every_item_but_the_last_is_asked() -> None:
    task = AssociativeRecall(bits=8, item_length=3, min_items=5, max_items=5)
    batch = task.sample(100, torch.Generator().manual_seed(0))
    positions = []
    for row in range(100):
        items, query, _ = read_row(batch, row, 8)
        positions.append(items.index(query))
    assert {position: positions.count(position) > 10 for position in positions} == dict.fromkeys(range(4), True)


def test_every_number_of_items_is_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    task = AssociativeRecall(min_items=2, max_items=4)
    assert {len(task.sample(1, generator).inputs) for _ in range(60)} == {16, 20, 24}
