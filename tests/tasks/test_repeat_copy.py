from math import sqrt

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import RepeatCopy
from mnemon.tasks.repeat_copy import normalised_count


def test_channels() -> None:
    assert (RepeatCopy().input_size, RepeatCopy().output_size) == (10, 9)


@given(st.integers(1, 8), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.integers(0, 1000))
def test_against_a_loop(bits: int, length: int, repeats: int, rows: int, seed: int) -> None:
    task = RepeatCopy(bits=bits, min_length=length, max_length=length, min_repeats=repeats, max_repeats=repeats)
    batch = task.sample(rows, torch.Generator().manual_seed(seed))
    steps = length + 2 + length * repeats + 1
    inputs, targets, mask = (
        torch.zeros(steps, rows, bits + 2),
        torch.zeros(steps, rows, bits + 1),
        torch.zeros(steps, rows),
    )
    for b in range(rows):
        for t in range(length):
            item = batch.inputs[t, b, :bits]
            assert set(item.tolist()) <= {0.0, 1.0}
            inputs[t, b, :bits] = item
            for repeat in range(repeats):
                targets[length + 2 + repeat * length + t, b, :bits] = item
        inputs[length, b, bits] = 1
        inputs[length + 1, b, bits + 1] = (repeats - 5.5) / sqrt(8.25)
        targets[steps - 1, b, bits] = 1
        for t in range(length + 2, steps):
            mask[t, b] = 1
    assert torch.allclose(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)


def test_every_length_and_count_is_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    task = RepeatCopy(bits=1, min_length=1, max_length=2, min_repeats=1, max_repeats=3)
    seen = set()
    for _ in range(100):
        batch = task.sample(1, generator)
        asked = int(batch.mask.sum())
        length = len(batch.mask) - asked - 2
        seen.add((length, (asked - 1) // length))
    assert seen == {(length, repeats) for length in (1, 2) for repeats in (1, 2, 3)}


@pytest.mark.parametrize("count_range", [(1, 10), (1, 2), (3, 7)])
def test_training_counts_have_mean_0_and_variance_1(count_range: tuple[int, int]) -> None:
    low, high = count_range
    counts = [normalised_count(repeats, count_range) for repeats in range(low, high + 1)]
    assert sum(counts) / len(counts) == pytest.approx(0)
    assert sum(count**2 for count in counts) / len(counts) == pytest.approx(1)


def test_longer_tests_keep_the_units_of_training() -> None:
    test = RepeatCopy(min_repeats=20, max_repeats=20, count_range=(1, 10))
    batch = test.sample(2, torch.Generator().manual_seed(0))
    assert float(batch.inputs[..., 9].max()) == pytest.approx((20 - 5.5) / sqrt(8.25))


def test_a_single_training_count_is_zero() -> None:
    assert [normalised_count(repeats, (4, 4)) for repeats in (4, 6)] == [0.0, 2.0]
