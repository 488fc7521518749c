"""The gradient of a weight that all steps share, on the kernels, as a torch operator.

Letters: ``K`` steps of all rows in a line.
"""

from collections.abc import Callable
from ctypes import c_int, c_long, c_void_p
from functools import cache
from typing import Any

import torch
from torch import Tensor

from mnemon.native.library import LIBRARY, SUFFIX, pointer


def sum_over_steps(left: Tensor, right: Tensor, which: Tensor | None) -> Tensor:
    """Σ_k left_k right_kᵀ, of ``K rows`` and ``K columns``: over all steps, or those whose numbers ``which`` has."""
    left, right = (side if side.stride(1) == 1 else side.contiguous() for side in (left, right))
    total = left.new_empty(left.shape[1], right.shape[1])
    steps = len(left) if which is None else len(which)
    sides = [number for side in (left, right) for number in (pointer(side), side.shape[1], side.stride(0))]
    _kernel(left.dtype)(steps, pointer(which), *sides, pointer(total), torch.get_num_threads())
    return total


operator = torch.library.custom_op("mnemon::sum_over_steps", sum_over_steps, mutates_args=())


@operator.register_fake
def _(left: Tensor, right: Tensor, which: Tensor | None) -> Tensor:  # noqa: ARG001 (shapes do not depend on it)
    return left.new_empty(left.shape[1], right.shape[1])


@cache
def _kernel(dtype: torch.dtype) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(LIBRARY, f"mnemon_over_steps_{SUFFIX[dtype]}")
    side = [c_void_p, c_int, c_long]
    function.argtypes = [c_long, c_void_p, *side, *side, c_void_p, c_int]  # type: ignore[attr-defined]
    return function
