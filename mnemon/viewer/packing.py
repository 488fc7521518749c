"""Numbers on their way into a page: a byte each, what stays the same from step to step for almost nothing.

A number from ``low`` to ``high`` becomes one of 255 levels, so that for ``low = -high`` zero stays zero; 255 is blank.
Each step is kept as its difference from the one before, modulo 256, and all of it is deflated, which browsers undo
themselves. Arrays that are looked at one step at a time may be thinned out until the whole is small enough; the page
then shows the step before.

Letters: ``T`` steps, ``C`` numbers of a step.
"""

import base64
import zlib
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

HIGHEST = 254
BLANK = 255
FEWEST = 8  # steps that thinning leaves


class Arrays:
    """The arrays of a run, each known by its number."""

    def __init__(self) -> None:
        self._levels: list[UInt8[Tensor, "T C"]] = []
        self._ranges: list[tuple[float, float]] = []
        self._thinned: dict[int, int] = {}  # of those that may be, every how many steps are kept

    def add(self, values: Float[Tensor, "T *C"], low: float, high: float, *, may_be_thinned: bool = False) -> int:
        """Keep an array, what is not a number being blank and what is out of range at its end."""
        flat = values.reshape(len(values), -1).double()
        shares = (flat - low) / (high - low) if high > low else torch.zeros_like(flat)
        levels = (shares.clamp(0, 1) * HIGHEST).round().nan_to_num(BLANK)
        self._levels.append(levels.to(torch.uint8).cpu())
        self._ranges.append((low, high))
        number = len(self._levels) - 1
        if may_be_thinned:
            self._thinned[number] = 1
        return number

    def pack(self, most: int) -> dict[str, Any]:
        """All arrays as JSON, in ``most`` bytes of base64 if thinning is enough for that."""
        text = self._deflate()
        while len(text) > most and (largest := self._largest()) is not None:
            self._thinned[largest] *= 2
            text = self._deflate()
        described, start = [], 0
        for number, (low, high) in enumerate(self._ranges):
            frames, cells = self._kept(number).shape
            every = self._thinned.get(number, 1)
            described.append(
                {"start": start, "frames": frames, "cells": cells, "every": every, "low": low, "high": high}
            )
            start += frames * cells
        return {"arrays": described, "bytes": text}

    def _kept(self, number: int) -> UInt8[Tensor, "_ C"]:
        return self._levels[number][:: self._thinned.get(number, 1)]

    def _largest(self) -> int | None:
        """Of the arrays that may still be thinned, the one that would save most."""
        sizes = {number: self._kept(number) for number in self._thinned}
        left = [number for number, kept in sizes.items() if len(kept) > FEWEST]
        return max(left, key=lambda number: sizes[number].numel(), default=None)

    def _deflate(self) -> str:
        parts = []
        for number in range(len(self._levels)):
            kept = self._kept(number)
            before = torch.cat([torch.zeros_like(kept[:1]), kept[:-1]])
            parts.append((kept - before).numpy().tobytes())  # unsigned bytes wrap around
        return base64.b64encode(zlib.compress(b"".join(parts), 9)).decode()
