import pytest
import torch

from mnemon.tasks.sampling import (
    BATCHES_DRAWN,
    add_channels,
    draw_between,
    draw_bits,
    draw_uniform,
    marker,
    neighbours_in_length,
    prompt_then_answer,
    shortest_first,
)


def test_both_ends_are_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = [draw_between(2, 5, generator) for _ in range(400)]
    assert {number: drawn.count(number) > 60 for number in drawn} == {2: True, 3: True, 4: True, 5: True}


def test_a_range_of_one() -> None:
    assert draw_between(4, 4, torch.Generator().manual_seed(0)) == 4


def test_bits_are_fair_coins() -> None:
    bits = draw_bits(100, 100, generator=torch.Generator().manual_seed(0))
    assert set(bits.flatten().tolist()) == {0.0, 1.0}
    assert float(bits.mean()) == pytest.approx(0.5, abs=0.02)


def test_uniform_numbers_spread_over_the_unit_interval() -> None:
    numbers = draw_uniform(10_000, generator=torch.Generator().manual_seed(0))
    assert 0 <= float(numbers.min()) < 0.01
    assert 0.99 < float(numbers.max()) < 1
    assert float(numbers.var()) == pytest.approx(1 / 12, abs=0.003)


def test_added_channels_are_zero_and_last() -> None:
    items = torch.ones(2, 3, 4)
    widened = add_channels(items, 2)
    assert widened.shape == (2, 3, 6)
    assert torch.equal(widened[..., :4], items)
    assert not widened[..., 4:].any()


def test_a_marker_is_one_step_in_one_channel() -> None:
    step = marker(torch.ones(5, 2, 3), 1, -0.5)
    assert step.tolist() == [[[0.0, -0.5, 0.0], [0.0, -0.5, 0.0]]]


def test_the_answer_is_asked_after_the_prompt() -> None:
    batch = prompt_then_answer(torch.ones(2, 1, 3), torch.ones(1, 1, 2))
    assert batch.inputs.tolist() == [[[1, 1, 1]], [[1, 1, 1]], [[0, 0, 0]]]
    assert batch.targets.tolist() == [[[0, 0]], [[0, 0]], [[1, 1]]]
    assert batch.mask.tolist() == [[0], [0], [1]]


def test_a_batch_has_neighbours_in_length_and_any_row_may_come() -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randperm(64, generator=generator) + 1
    seen = set()
    for _ in range(100):
        rows = neighbours_in_length(torch.randperm(64, generator=generator), lengths, generator)
        assert len(rows) == 64 // BATCHES_DRAWN
        shortest = int(lengths[rows].min())
        assert sorted(lengths[rows].tolist()) == list(range(shortest, shortest + len(rows)))
        seen |= set(rows.tolist())
    assert seen == set(range(64))


def test_all_rows_once_the_shortest_first() -> None:
    lengths = torch.tensor([5, 1, 3, 3, 2])
    assert [rows.tolist() for rows in shortest_first(lengths, 2)] == [[1, 4], [2, 3], [0]]
