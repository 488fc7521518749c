"""What is packed comes out again, as a browser would unpack it."""

import base64
import zlib
from typing import Any

import pytest
import torch

from mnemon.viewer.packing import BLANK, HIGHEST, Arrays


def unpack(packed: dict[str, Any], number: int) -> torch.Tensor:
    """The numbers of an array, (frames, cells), undone step by step."""
    data = zlib.decompress(base64.b64decode(packed["bytes"]))
    described = packed["arrays"][number]
    frames, cells, low, high = (described[name] for name in ("frames", "cells", "low", "high"))
    levels = torch.zeros(frames, cells, dtype=torch.int64)
    for frame in range(frames):
        for cell in range(cells):
            before = int(levels[frame - 1, cell]) if frame else 0
            levels[frame, cell] = (data[described["start"] + frame * cells + cell] + before) % 256
    numbers = low + levels.double() / HIGHEST * (high - low)
    return torch.where(levels == BLANK, torch.nan, numbers)


def test_numbers_come_out_within_half_a_level() -> None:
    generator = torch.Generator().manual_seed(0)
    first, second = torch.rand(7, 3, 2, generator=generator), torch.randn(5, 4, generator=generator)
    arrays = Arrays()
    assert [arrays.add(first, 0.0, 1.0), arrays.add(second, -4.0, 4.0)] == [0, 1]
    packed = arrays.pack(10**6)
    torch.testing.assert_close(unpack(packed, 0), first.reshape(7, 6).double(), atol=0.5 / HIGHEST, rtol=0)
    torch.testing.assert_close(unpack(packed, 1), second.double(), atol=4 / HIGHEST, rtol=0)


def test_ends_zero_and_blanks_are_exact() -> None:
    arrays = Arrays()
    arrays.add(torch.tensor([[-2.0, 0.0, 2.0], [torch.nan, 1e4, -1e4], [0.0, torch.inf, -torch.inf]]), -2.0, 2.0)
    arrays.add(torch.zeros(2, 1), 0.0, 0.0)
    packed = arrays.pack(10**6)
    out = unpack(packed, 0)
    assert out[0].tolist() == [-2, 0, 2]
    assert out[1].isnan().tolist() == [True, False, False]
    assert out[1:, 1:].tolist() == [[2, -2], [2, -2]]
    assert unpack(packed, 1).tolist() == [[0], [0]]


def test_what_stays_the_same_costs_almost_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    still = torch.rand(1, 4096, generator=generator).expand(200, -1)
    arrays = Arrays()
    arrays.add(still, 0.0, 1.0)
    assert len(arrays.pack(10**9)["bytes"]) < 12_000  # 800 KB of bytes


def test_thinning_stops_when_it_is_small_enough_and_spares_what_must_stay() -> None:
    generator = torch.Generator().manual_seed(0)
    arrays = Arrays()
    kept = arrays.add(torch.rand(64, 100, generator=generator), 0.0, 1.0)
    large, small = (torch.rand(64, cells, generator=generator) for cells in (400, 50))
    numbers = [arrays.add(values, 0.0, 1.0, may_be_thinned=True) for values in (large, small)]
    packed = arrays.pack(28_000)
    assert len(packed["bytes"]) <= 28_000
    every = [described["every"] for described in packed["arrays"]]
    assert every[kept] == 1
    assert every[numbers[0]] == 4
    assert every[numbers[1]] == 1
    torch.testing.assert_close(unpack(packed, numbers[0]), large[::4].double(), atol=0.5 / HIGHEST, rtol=0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 0)])
def test_small_arrays(shape: tuple[int, int]) -> None:
    arrays = Arrays()
    arrays.add(torch.ones(shape), 0.0, 1.0)
    assert unpack(arrays.pack(0), 0).shape == shape
