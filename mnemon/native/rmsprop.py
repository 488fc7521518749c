"""RMSProp on the kernels: torch's makes seven passes over the parameters, which the training of a small model feels."""

from collections.abc import Callable, Iterable
from ctypes import c_double, c_long, c_void_p
from functools import cache
from typing import Any

import torch
from torch import nn

from mnemon.native.library import LIBRARY, SUFFIX, pointer


def covers(parameters: Iterable[nn.Parameter]) -> bool:
    """Whether the kernels are built and can work on all of these."""
    return LIBRARY is not None and all(
        parameter.device.type == "cpu" and parameter.dtype in SUFFIX and parameter.is_contiguous()
        for parameter in parameters
    )


class RMSProp(torch.optim.RMSprop):
    """The same as torch's, which can go on with what this one remembers, for parameters that the kernels cover."""

    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002 (nothing is evaluated again)
        """Change the parameters by their gradients, in one pass over each."""
        for group in self.param_groups:
            lists: list[list[Any]] = [[] for _ in range(6)]
            self._init_group(group, *lists)  # type: ignore[no-untyped-call]
            parameters, gradients, squares, buffers, _, steps = lists
            if steps:
                torch._foreach_add_(steps, 1)
            settings = [group[name] for name in ("lr", "alpha", "momentum", "eps")]
            for index, parameter in enumerate(parameters):
                gradient = gradients[index].contiguous()  # must outlive the call
                tensors = (parameter, gradient, squares[index], buffers[index] if buffers else None)
                _kernel(parameter.dtype)(parameter.numel(), *map(pointer, tensors), *settings)


@cache
def _kernel(dtype: torch.dtype) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(LIBRARY, f"mnemon_rmsprop_{SUFFIX[dtype]}")
    function.argtypes = [c_long, *[c_void_p] * 4, *[c_double] * 4]  # type: ignore[attr-defined]
    return function
