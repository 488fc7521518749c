"""The kernels as torch operators, so that autograd, torch.compile and torch.export see them.

Letters: ``T`` time, ``B`` batch, ``P`` preactivations, ``F`` features.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor

from mnemon.native.library import BackwardCall, Config, ForwardCall, call, pointer, pointers, workspace_sizes

CHECKPOINT_EVERY = 8  # steps between two kept contents of the memory
ROWS_TOGETHER = 8  # at most so many rows of the batch share a read of the weights

_CELL_FIELDS = [field[0] for field in Config._fields_ if field[0] not in ("steps", "batch", "threads", "keep_records")]


def cell_numbers(sizes: dict[str, Any]) -> list[float]:
    """What an operator is told about the cell, as plain numbers; what does not concern it is 0."""
    return [float(sizes.get(name, 0)) for name in _CELL_FIELDS]


def _config(numbers: list[float], steps: int, batch: int, keep: bool) -> Config:
    config = Config(steps=steps, batch=batch, keep_records=keep, threads=torch.get_num_threads())
    for name, number in zip(_CELL_FIELDS, numbers, strict=True):
        setattr(config, name, number if name in ("clip", "decay") else int(number))
    config.checkpoint_every = CHECKPOINT_EVERY
    config.rows_together = max(1, min(ROWS_TOGETHER, -(-batch // config.threads)))
    return config


def _workspaces(kernel: str, inputs: Tensor, numbers: list[float], keep: bool) -> tuple[int, int]:
    """Lengths of the records and of the checkpoints."""
    record, content, _ = workspace_sizes(kernel, inputs.dtype, _config(numbers, 1, 1, keep))
    steps, batch = inputs.shape[0], inputs.shape[1]
    chunks = (steps + CHECKPOINT_EVERY - 1) // CHECKPOINT_EVERY
    return ((steps + 1) * batch * record, chunks * batch * content) if keep else (2 * batch * record, 0)


@torch.library.custom_op("mnemon::sequence", mutates_args=())
def sequence(
    inputs: Tensor,
    recurrent: Tensor,
    interface: Tensor,
    bias: Tensor,
    extra: Tensor,
    state: list[Tensor],
    lengths: Tensor | None,
    schedule: Tensor | None,
    kernel: str,
    numbers: list[float],
    keep: bool,
) -> list[Tensor]:
    """Run a cell over a sequence: the features, the final state, and the two workspaces that backward needs."""
    steps, batch, _ = inputs.shape
    config = _config(numbers, steps, batch, keep)
    records, checkpoints = _workspaces(kernel, inputs, numbers, keep)
    features = inputs.new_empty(steps, batch, recurrent.shape[0])
    final = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in state]
    kept = inputs.new_empty(records)
    contents = inputs.new_empty(checkpoints)
    parts = [part.contiguous() for part in (inputs, recurrent, interface, bias, extra)]
    state = [part.contiguous() for part in state]
    before, after = pointers(state), pointers(final)
    forward = ForwardCall(
        *map(pointer, parts),
        ctypes.cast(before, ctypes.c_void_p),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        ctypes.cast(after, ctypes.c_void_p),
        pointer(kept),
        pointer(contents),
    )
    call(kernel, "forward", inputs.dtype, config, forward)
    return [features, *final, kept, contents]


@sequence.register_fake
def _(
    inputs: Tensor,
    recurrent: Tensor,
    interface: Tensor,
    bias: Tensor,
    extra: Tensor,
    state: list[Tensor],
    lengths: Tensor | None,
    schedule: Tensor | None,
    kernel: str,
    numbers: list[float],
    keep: bool,
) -> list[Tensor]:
    records, checkpoints = _workspaces(kernel, inputs, numbers, keep)
    features = inputs.new_empty(inputs.shape[0], inputs.shape[1], recurrent.shape[0])
    final = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in state]
    return [features, *final, inputs.new_empty(records), inputs.new_empty(checkpoints)]


@torch.library.custom_op("mnemon::sequence_backward", mutates_args=())
def sequence_backward(
    dfeatures: Tensor,
    dfinal: list[Tensor],
    inputs: Tensor,
    recurrent: Tensor,
    interface: Tensor,
    bias: Tensor,
    extra: Tensor,
    state: list[Tensor],
    lengths: Tensor | None,
    schedule: Tensor | None,
    features: Tensor,
    records: Tensor,
    checkpoints: Tensor,
    kernel: str,
    numbers: list[float],
) -> list[Tensor]:
    """Gradients of the preactivations, the interface vectors, the extra parameters (by row) and the state."""
    steps, batch, _ = inputs.shape
    config = _config(numbers, steps, batch, keep=True)
    dpre = torch.empty_like(inputs, memory_format=torch.contiguous_format)
    dvector = inputs.new_empty(steps, batch, interface.shape[1])
    dextra = inputs.new_empty(batch, extra.numel())
    dstate = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in state]
    parts = [part.contiguous() for part in (inputs, recurrent, interface, bias, extra)]
    state = [part.contiguous() for part in state]
    dfinal = [part.contiguous() for part in dfinal]
    dfeatures = dfeatures.contiguous()
    before, after, gradient = pointers(state), pointers(dfinal), pointers(dstate)
    forward = ForwardCall(
        *map(pointer, parts),
        ctypes.cast(before, ctypes.c_void_p),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        None,
        pointer(records),
        pointer(checkpoints),
    )
    backward = BackwardCall(
        pointer(dfeatures),
        ctypes.cast(after, ctypes.c_void_p),
        pointer(dpre),
        pointer(dvector),
        pointer(dextra),
        ctypes.cast(gradient, ctypes.c_void_p),
    )
    call(kernel, "backward", inputs.dtype, config, forward, backward)
    return [dpre, dvector, dextra, *dstate]


@sequence_backward.register_fake
def _(
    dfeatures: Tensor,
    dfinal: list[Tensor],
    inputs: Tensor,
    recurrent: Tensor,
    interface: Tensor,
    bias: Tensor,
    extra: Tensor,
    state: list[Tensor],
    lengths: Tensor | None,
    schedule: Tensor | None,
    features: Tensor,
    records: Tensor,
    checkpoints: Tensor,
    kernel: str,
    numbers: list[float],
) -> list[Tensor]:
    steps, batch, _ = inputs.shape
    return [
        torch.empty_like(inputs, memory_format=torch.contiguous_format),
        inputs.new_empty(steps, batch, interface.shape[1]),
        inputs.new_empty(batch, extra.numel()),
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in state),
    ]


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    *tensors, state, lengths, schedule, ctx.kernel, ctx.numbers, ctx.keep = inputs
    features, records, checkpoints = output[0], output[-2], output[-1]
    ctx.states = len(state)
    ctx.set_materialize_grads(False)  # zeros for the workspaces would cost more than the kernel
    ctx.save_for_backward(*tensors, features, records, checkpoints, lengths, schedule, *state)


def _backward(ctx: Any, gradients: list[Tensor | None]) -> tuple[Any, ...]:
    saved = ctx.saved_tensors
    tensors, (features, records, checkpoints, lengths, schedule), state = saved[:5], saved[5:10], list(saved[10:])
    inputs, _, _, _, extra = tensors
    none = inputs.new_empty(0)  # its address is null, which the kernel takes for zeros
    dfeatures = torch.zeros_like(features) if gradients[0] is None else gradients[0]
    dfinal = [none if part is None else part for part in gradients[1 : 1 + ctx.states]]
    dpre, dvector, dextra, *dstate = sequence_backward(
        dfeatures, dfinal, *tensors, state, lengths, schedule, features, records, checkpoints, ctx.kernel, ctx.numbers
    )
    # [h, r] before each step; what the steps share, their weights, is two products over all of them
    hidden, reads = state[0], state[-1].flatten(1)
    before = torch.cat([torch.cat([hidden, reads], dim=1).unsqueeze(0), features[:-1]])
    drecurrent = before.flatten(0, 1).T @ dpre.flatten(0, 1)
    dinterface = features[..., : hidden.shape[1]].flatten(0, 1).T @ dvector.flatten(0, 1)
    shared = (dpre, drecurrent, dinterface, dvector.sum((0, 1)), dextra.sum(0).view_as(extra))
    return (*shared, dstate, None, None, None, None, None)


sequence.register_autograd(_backward, setup_context=_keep_for_backward)


def _no_second_derivative(ctx: Any, *gradients: Any) -> None:
    raise RuntimeError("the native engine has no second derivatives: make the MANN with engine='reference'")


sequence_backward.register_autograd(_no_second_derivative)
