"""The kernels as torch operators, so that autograd, torch.compile and torch.export see them.

Letters: ``T`` time, ``B`` batch, ``P`` preactivations, ``F`` features.
"""

from typing import Any

import torch
from torch import Tensor

from mnemon.native.library import BackwardCall, Config, ForwardCall, call, pointer, pointers, workspace_sizes

CHECKPOINT_EVERY = 8  # steps between two kept contents of the memory
ROWS_TOGETHER = 16  # at most so many rows of the batch share a read of the weights
WORKSPACES = 3  # records of the controller, records of the memory, contents of the memory

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


def _allocate(
    inputs: Tensor, recurrent: Tensor, state: list[Tensor], kernel: str, numbers: list[float], keep: bool
) -> list[Tensor]:
    """Room for the features, the final state, the records of controller and memory, and the contents kept."""
    steps, batch, _ = inputs.shape
    controller, memory, content = workspace_sizes(kernel, inputs.dtype, _config(numbers, 1, 1, keep))
    chunks = (steps + CHECKPOINT_EVERY - 1) // CHECKPOINT_EVERY if keep else 0
    records = steps + 1 if keep else 2
    return [
        inputs.new_empty(steps, batch, recurrent.shape[0]),
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in state),
        inputs.new_empty(records * batch * controller),
        inputs.new_empty(records * batch * memory),
        inputs.new_empty(chunks * batch * content),
    ]


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
    """Run a cell over a sequence: the features, the final state, and the workspaces that backward needs."""
    steps, batch, _ = inputs.shape
    outputs = _allocate(inputs, recurrent, state, kernel, numbers, keep)
    features, *final = outputs[:-WORKSPACES]
    parts = [part.contiguous() for part in (inputs, recurrent, interface, bias, extra)]
    state = [part.contiguous() for part in state]
    forward = ForwardCall(
        *map(pointer, parts),
        pointers(state),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        pointers(final),
        *map(pointer, outputs[-WORKSPACES:]),
    )
    call(kernel, "forward", inputs.dtype, _config(numbers, steps, batch, keep), forward)
    return outputs


@sequence.register_fake
def _(inputs: Tensor, recurrent: Tensor, *rest: Any) -> list[Tensor]:
    _, _, _, state, _, _, kernel, numbers, keep = rest
    return _allocate(inputs, recurrent, state, kernel, numbers, keep)


def _allocate_gradients(inputs: Tensor, interface: Tensor, extra: Tensor, state: list[Tensor]) -> list[Tensor]:
    """Room for the gradients of the preactivations, the interface vectors, the extra parameters (by row), the state."""
    steps, batch, _ = inputs.shape
    return [
        torch.empty_like(inputs, memory_format=torch.contiguous_format),
        inputs.new_empty(steps, batch, interface.shape[1]),
        inputs.new_empty(batch, extra.numel()),
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in state),
    ]


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
    workspaces: list[Tensor],
    kernel: str,
    numbers: list[float],
) -> list[Tensor]:
    """Gradients of the preactivations, the interface vectors, the extra parameters (by row) and the state."""
    steps, batch, _ = inputs.shape
    gradients = _allocate_gradients(inputs, interface, extra, state)
    parts = [part.contiguous() for part in (inputs, recurrent, interface, bias, extra)]
    state = [part.contiguous() for part in state]
    dfinal = [part.contiguous() for part in dfinal]
    dfeatures = dfeatures.contiguous()
    forward = ForwardCall(
        *map(pointer, parts),
        pointers(state),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        None,
        *map(pointer, workspaces),
    )
    backward = BackwardCall(pointer(dfeatures), pointers(dfinal), *map(pointer, gradients[:3]), pointers(gradients[3:]))
    call(kernel, "backward", inputs.dtype, _config(numbers, steps, batch, keep=True), forward, backward)
    return gradients


@sequence_backward.register_fake
def _(dfeatures: Tensor, dfinal: list[Tensor], inputs: Tensor, *rest: Any) -> list[Tensor]:
    _, interface, _, extra, state, *_ = rest
    return _allocate_gradients(inputs, interface, extra, state)


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    *tensors, state, lengths, schedule, ctx.kernel, ctx.numbers, ctx.keep = inputs
    ctx.states = len(state)
    ctx.set_materialize_grads(False)  # zeros for the workspaces would cost more than the kernel
    ctx.save_for_backward(*tensors, output[0], *output[-WORKSPACES:], lengths, schedule, *state)


def _backward(ctx: Any, gradients: list[Tensor | None]) -> tuple[Any, ...]:
    saved = ctx.saved_tensors
    tensors, features, workspaces = saved[:5], saved[5], list(saved[6 : 6 + WORKSPACES])
    lengths, schedule, *state = saved[6 + WORKSPACES :]
    inputs, _, _, _, extra = tensors
    none = inputs.new_empty(0)  # its address is null, which the kernel takes for zeros
    dfeatures = torch.zeros_like(features) if gradients[0] is None else gradients[0]
    dfinal = [none if part is None else part for part in gradients[1 : 1 + ctx.states]]
    dpre, dvector, dextra, *dstate = sequence_backward(
        dfeatures, dfinal, *tensors, state, lengths, schedule, features, workspaces, ctx.kernel, ctx.numbers
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
