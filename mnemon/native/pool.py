"""Workspaces that are used again: fresh memory costs more, page by page, than what the kernels do in it.

A tensor made from an array keeps that array alive. So an array that nobody but the pool refers to is free.
"""

import sys
import threading
from typing import Any

import numpy as np
import torch
from torch import Tensor

SMALLEST = 1 << 18  # numbers; below, malloc does as well

_NUMPY: dict[torch.dtype, Any] = {torch.float32: np.float32, torch.float64: np.float64}
_FREE = 2  # references to a free array while it is looked at: the list's and the look's own

_arrays: list["np.ndarray[Any, Any]"] = []
_lock = threading.Lock()


def take(numbers: int, like: Tensor) -> Tensor:
    """A tensor of so many numbers of the type of ``like``, whatever they are."""
    if numbers < SMALLEST or torch.compiler.is_compiling():
        return like.new_empty(numbers)
    dtype = _NUMPY[like.dtype]
    with _lock:
        for index in _free(dtype):
            if _arrays[index].size >= numbers:
                return torch.from_numpy(_arrays[index][:numbers])
        _drop(dtype)  # too small, all of them
        _arrays.append(np.empty(numbers, dtype))
        return torch.from_numpy(_arrays[-1][:])


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
