"""The gradient of a weight that all steps share is a sum of outer products."""

import pytest
import torch
from torch import Tensor

from mnemon.native.over_steps import sum_over_steps

SIZES = [(1, 1, 1), (3, 5, 17), (63, 4, 1), (64, 1, 33), (65, 18, 48), (200, 33, 175), (7, 400, 64)]


def drawn(steps: int, numbers: int, dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(steps + numbers)
    return torch.randn(steps, numbers, generator=generator, dtype=dtype)


def by_step(left: Tensor, right: Tensor) -> Tensor:
    total = torch.zeros(left.shape[1], right.shape[1], dtype=torch.float64)
    for one, other in zip(left.double(), right.double(), strict=True):
        for row, number in enumerate(one):
            total[row] += number * other
    return total


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
@pytest.mark.parametrize(("steps", "rows", "columns"), SIZES)
def test_sums(steps: int, rows: int, columns: int, dtype: torch.dtype, tolerance: float) -> None:
    left, right = drawn(steps, rows, dtype), drawn(steps, columns, dtype)
    expected = by_step(left, right)
    found = sum_over_steps(left, right, None).double()
    assert (found - expected).abs().max() <= tolerance * steps**0.5 * expected.abs().max()


def test_steps_that_count() -> None:
    left, right = drawn(150, 9, torch.float64), drawn(150, 20, torch.float64)
    which = torch.arange(150)[torch.rand(150, generator=torch.Generator().manual_seed(0)) < 0.6]
    torch.testing.assert_close(sum_over_steps(left, right, which), by_step(left[which], right[which]))


def test_no_step_and_no_number() -> None:
    nothing = sum_over_steps(torch.ones(0, 3), torch.ones(0, 5), None)
    assert torch.equal(nothing, torch.zeros(3, 5))
    assert torch.equal(sum_over_steps(torch.ones(4, 3), torch.ones(4, 5), torch.arange(0)), torch.zeros(3, 5))
    assert sum_over_steps(torch.ones(4, 0), torch.ones(4, 5), None).shape == (0, 5)
    assert sum_over_steps(torch.ones(4, 3), torch.ones(4, 0), None).shape == (3, 0)


def test_sides_may_be_parts_of_something_wider_or_transposed() -> None:
    wide = drawn(70, 60, torch.float64)
    left, right = wide[:, 3:20], wide[:, 20:59]
    expected = by_step(left, right)
    torch.testing.assert_close(sum_over_steps(left, right, None), expected)
    torch.testing.assert_close(sum_over_steps(left.T.contiguous().T, right, None), expected)


def test_threads_change_nothing() -> None:
    left, right = drawn(300, 40, torch.float32), drawn(300, 175, torch.float32)
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 2, 3, 50):
            torch.set_num_threads(count)
            found.append(sum_over_steps(left, right, None))
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, found[0]) for one in found)
