"""Workspaces that are used again: fresh memory costs more, page by page, than what the kernels do in it.

A tensor made from an array keeps that array alive. So an array that nobody but the pool refers to is free.
"""

import math
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

SMALLEST = 1 << 18  # numbers; below, malloc does as well

_NUMPY: dict[torch.dtype, Any] = {torch.float32: np.float32, torch.float64: np.float64}
_FREE = 2  # references to a free array while it is looked at: the list's and the look's own

_arrays: list["np.ndarray[Any, Any]"] = []
_lock = threading.Lock()


def take(shape: Sequence[int], like: Tensor) -> Tensor:
    """A tensor of this shape and of the type of ``like``, whatever its numbers are."""
    numbers = math.prod(shape)
    if numbers < SMALLEST or torch.compiler.is_compiling():
        return like.new_empty(shape)
    return torch.from_numpy(_array(numbers, _NUMPY[like.dtype])).view(shape)


def _array(numbers: int, dtype: Any) -> Any:
    with _lock:
        enough = [index for index in _free(dtype) if _arrays[index].size >= numbers]
        if enough:
            return _arrays[min(enough, key=lambda index: _arrays[index].size)][:numbers]
        _drop(dtype)  # too small, all of them
        _arrays.append(np.empty(numbers, dtype))
        return _arrays[-1][:]


def clear() -> None:
    """Give back what is free."""
    with _lock:
        for dtype in _NUMPY.values():
            _drop(dtype)


def _free(dtype: Any) -> list[int]:
    return [
        index
        for index in range(len(_arrays))
        if _arrays[index].dtype == dtype and sys.getrefcount(_arrays[index]) == _FREE
    ]


def _drop(dtype: Any) -> None:
    for index in reversed(_free(dtype)):
        del _arrays[index]
