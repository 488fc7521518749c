"""Workspaces are used again, and never while someone holds them."""

import pytest
import torch

from mnemon.native import pool
from mnemon.native.pool import SMALLEST

LIKE = torch.empty(0)


@pytest.fixture(autouse=True)
def _empty() -> None:
    pool.clear()


def test_what_is_free_is_used_again() -> None:
    first = pool.take([2 * SMALLEST], LIKE)
    address = first.data_ptr()
    part = first[5:9]
    del first
    other = pool.take([SMALLEST], LIKE)
    assert other.data_ptr() != address  # a part of it is still held
    del part, other
    assert pool.take([2 * SMALLEST], LIKE).data_ptr() == address


def test_larger_ones_replace_smaller_ones() -> None:
    pool.take([SMALLEST], LIKE)
    large = pool.take([3 * SMALLEST], LIKE)
    assert large.shape == (3 * SMALLEST,)
    address = large.data_ptr()
    del large
    assert len(pool._arrays) == 1
    smaller = pool.take([SMALLEST + 1], LIKE)
    assert smaller.shape == (SMALLEST + 1,)
    assert smaller.data_ptr() == address


def test_types_are_kept_apart() -> None:
    single = pool.take([SMALLEST], LIKE)
    double = pool.take([SMALLEST], LIKE.double())
    assert (single.dtype, double.dtype) == (torch.float32, torch.float64)
    del single, double
    assert pool.take([SMALLEST], LIKE.double()).dtype == torch.float64
    pool.clear()
    assert pool._arrays == []


def test_the_smallest_that_is_large_enough() -> None:
    sizes = (3 * SMALLEST, 2 * SMALLEST, SMALLEST)
    held = [pool.take([size], LIKE) for size in sizes]
    addresses = [part.data_ptr() for part in held]
    del held
    taken = [pool.take([size // 2, 2], LIKE) for size in reversed(sizes)]
    assert [part.data_ptr() for part in reversed(taken)] == addresses
    assert [part.shape for part in taken] == [(size // 2, 2) for size in reversed(sizes)]
