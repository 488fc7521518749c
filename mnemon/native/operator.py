"""The kernels as torch operators, so that autograd, torch.compile and torch.export see them.

Letters: ``T`` time, ``B`` batch, ``P`` preactivations, ``F`` features.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mnemon.native import over_steps, pool
from mnemon.native.library import (
    BackwardCall,
    Config,
    ForwardCall,
    StepBackwardCall,
    StepCall,
    call,
    pointer,
    pointers,
    workspace_sizes,
)

CHECKPOINT_EVERY = 8  # steps between two kept contents of the memory
LARGE_CONTENT = 1 << 17  # bytes; twice as often then, for what is played back at once should stay in the cache
WEIGHTS = 10  # tensors of a call that gradients are asked for, but for the state: the inputs, and on to the cache
PLAIN = 7  # what no gradient is asked for: ends, noise, lengths, schedule, kernel, numbers, keep
WORKSPACES = 4  # records of the controller, records of the memory, contents of the memory, recalled outputs
ACCESS = 3  # of an entry of a schedule, what is the Access of the step
RECALL = 4  # added to the Access of a step before which the last outputs are recalled; kRecall in src/config.hpp
MOSTLY = 0.75  # of all steps: where fewer count, the others are left out of products
FIRST_TURN = 3  # the bit of the one whose turn is the first, and so on; kTurns in src/config.hpp

_CALL_FIELDS = ("steps", "batch", "checkpoint_every", "threads", "keep_records")
_CELL_FIELDS = [field[0] for field in Config._fields_ if field[0] not in _CALL_FIELDS]
_FRACTIONS = ("clip", "decay", "temperature")


def cell_numbers(sizes: dict[str, Any]) -> list[float]:
    """What an operator is told about the cell, as plain numbers; what does not concern it is 0."""
    return [float(sizes.get(name, 0)) for name in _CELL_FIELDS]


def _config(numbers: Sequence[float], steps: int, batch: int, keep: bool, every: int = CHECKPOINT_EVERY) -> Config:
    return Config(
        steps=steps,
        batch=batch,
        checkpoint_every=every,
        threads=torch.get_num_threads(),
        keep_records=keep,
        **_of_cell(tuple(numbers)),
    )


@lru_cache
def _of_cell(numbers: tuple[float, ...]) -> dict[str, int | float]:
    """The numbers of a cell by their names, whole where the kernels take whole ones."""
    named = zip(_CELL_FIELDS, numbers, strict=True)
    return {name: number if name in _FRACTIONS else int(number) for name, number in named}


@lru_cache
def _sizes(kernel: str, dtype: torch.dtype, numbers: tuple[float, ...]) -> tuple[int, int, int]:
    """Numbers in a record of the controller, in a record of the memory, and in the memory's content."""
    return workspace_sizes(kernel, dtype, _config(numbers, 1, 1, keep=True))


def _checkpoint_every(kernel: str, dtype: torch.dtype, numbers: list[float]) -> int:
    """Steps between two kept contents of the memory."""
    content = _sizes(kernel, dtype, tuple(numbers))[2] * dtype.itemsize
    return CHECKPOINT_EVERY // 2 if content > LARGE_CONTENT else CHECKPOINT_EVERY


def _allocate(
    inputs: Tensor, cache: Tensor | None, state: list[Tensor], kernel: str, numbers: list[float], keep: bool
) -> list[Tensor]:
    """Room for the features, the final state, the records of controller and memory, and what else is kept."""
    steps, batch, _ = inputs.shape
    controller, memory, content = _sizes(kernel, inputs.dtype, tuple(numbers))
    every = _checkpoint_every(kernel, inputs.dtype, numbers)
    chunks = (steps + every - 1) // every if keep else 0
    records = steps + 1 if keep else 2
    return [
        inputs.new_empty(steps, batch, state[0].shape[1] + state[-1][0].numel()),
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in state),
        *(pool.take((batch * row,), inputs) for row in (records * controller, records * memory, chunks * content)),
        inputs.new_zeros(steps if keep and cache is not None else 0, batch, state[0].shape[1]),
    ]


def _run(
    inputs: Tensor,
    from_inputs: Tensor,
    from_hidden: Tensor | None,
    bias: Tensor | None,
    interface: Tensor,
    interface_bias: Tensor | None,
    extra: Tensor | None,
    keys: Tensor | None,
    attention: Tensor | None,
    cache: Tensor | None,
    state: list[Tensor],
    ends: Tensor | None,
    noise: Tensor | None,
    lengths: Tensor | None,
    schedule: Tensor | None,
    kernel: str,
    numbers: list[float],
    keep: bool,
) -> list[Tensor]:
    """Run a cell over a sequence: the features, the final state, and the workspaces that backward needs."""
    steps, batch, _ = inputs.shape
    outputs = _allocate(inputs, cache, state, kernel, numbers, keep)
    features, *final = outputs[:-WORKSPACES]
    weights = _contiguous(
        inputs, from_inputs, from_hidden, bias, interface, interface_bias, extra, keys, attention, cache
    )
    state = _contiguous(*state)
    forward = ForwardCall(
        *map(pointer, weights),
        pointer(ends),
        pointer(noise),
        pointers(state),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        pointers(final),
        *map(pointer, outputs[-WORKSPACES:]),
    )
    every = _checkpoint_every(kernel, inputs.dtype, numbers)
    call(kernel, "forward", inputs.dtype, _config(numbers, steps, batch, keep, every), forward)
    return outputs


sequence = torch.library.custom_op("mnemon::sequence", _run, mutates_args=())


@sequence.register_fake
def _(inputs: Tensor, *rest: Any) -> list[Tensor]:
    *_, cache, state, _, _, _, _, kernel, numbers, keep = rest
    return _allocate(inputs, cache, state, kernel, numbers, keep)


def _allocate_gradients(
    inputs: Tensor, from_inputs: Tensor, interface: Tensor, by_row: Sequence[Tensor | None], state: list[Tensor]
) -> list[Tensor]:
    """Room for the gradients of preactivations and interface, of more parameters by row, of the cache, of the state."""
    steps, batch, _ = inputs.shape
    *parameters, cache = by_row
    return [
        *(pool.take((steps, batch, weight.shape[0]), inputs) for weight in (from_inputs, interface)),
        *(inputs.new_empty(batch, 0 if part is None else part.numel()) for part in parameters),
        *(inputs.new_empty(0) if part is None else torch.empty_like(part) for part in [cache]),
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in state),
    ]


def _run_backward(
    dfeatures: Tensor,
    dfinal: list[Tensor],
    inputs: Tensor,
    from_inputs: Tensor,
    from_hidden: Tensor | None,
    bias: Tensor | None,
    interface: Tensor,
    interface_bias: Tensor | None,
    extra: Tensor | None,
    keys: Tensor | None,
    attention: Tensor | None,
    cache: Tensor | None,
    state: list[Tensor],
    ends: Tensor | None,
    noise: Tensor | None,
    lengths: Tensor | None,
    schedule: Tensor | None,
    features: Tensor,
    workspaces: list[Tensor],
    kernel: str,
    numbers: list[float],
) -> list[Tensor]:
    """Gradients of preactivations and interface, of extra parameters, keys and attention by row, of cache and state."""
    steps, batch, _ = inputs.shape
    gradients = _allocate_gradients(inputs, from_inputs, interface, (extra, keys, attention, cache), state)
    weights = _contiguous(
        inputs, from_inputs, from_hidden, bias, interface, interface_bias, extra, keys, attention, cache
    )
    state = _contiguous(*state)
    (dfeatures,), dfinal = _contiguous(dfeatures), _contiguous(*dfinal)
    forward = ForwardCall(
        *map(pointer, weights),
        pointer(ends),
        pointer(noise),
        pointers(state),
        pointer(lengths),
        pointer(schedule),
        pointer(features),
        None,
        *map(pointer, workspaces),
    )
    backward = BackwardCall(pointer(dfeatures), pointers(dfinal), *map(pointer, gradients[:6]), pointers(gradients[6:]))
    every = _checkpoint_every(kernel, inputs.dtype, numbers)
    call(kernel, "backward", inputs.dtype, _config(numbers, steps, batch, keep=True, every=every), forward, backward)
    return gradients


sequence_backward = torch.library.custom_op("mnemon::sequence_backward", _run_backward, mutates_args=())


@sequence_backward.register_fake
def _(dfeatures: Tensor, dfinal: list[Tensor], inputs: Tensor, from_inputs: Tensor, *rest: Any) -> list[Tensor]:
    _, _, interface, _, *by_row, state = rest[:9]
    return _allocate_gradients(inputs, from_inputs, interface, by_row, state)


def _contiguous(*tensors: Any) -> list[Any]:
    return [None if tensor is None else tensor.contiguous() for tensor in tensors]


def _keep_for_backward(ctx: Any, inputs: tuple[Any, ...], output: Sequence[Tensor]) -> None:
    *weights, state, ends, noise, lengths, schedule, ctx.kernel, ctx.numbers, _ = inputs
    ctx.states = len(state)
    ctx.set_materialize_grads(False)  # zeros for the workspaces would cost more than the kernel
    ctx.save_for_backward(*weights, output[0], *output[-WORKSPACES:], ends, noise, lengths, schedule, *state)


def _backward(ctx: Any, gradients: Sequence[Tensor | None]) -> tuple[Any, ...]:
    saved = ctx.saved_tensors
    weights, (features, *rest) = saved[:WEIGHTS], saved[WEIGHTS:]
    workspaces, (ends, noise, lengths, schedule, *state) = rest[:WORKSPACES], rest[WORKSPACES:]
    inputs, from_inputs, from_hidden, bias, interface, interface_bias, *by_row, cache = weights
    none = inputs.new_empty(0)  # its address is null, which the kernel takes for zeros
    dfeatures = torch.zeros_like(features) if gradients[0] is None else gradients[0]
    dfinal = [none if part is None else part for part in gradients[1 : 1 + ctx.states]]
    watched = _traced() or torch.is_grad_enabled()
    differentiate: Any = sequence_backward if watched else _run_backward
    called = (state, ends, noise, lengths, schedule, features, workspaces, ctx.kernel, ctx.numbers)
    dpre, dvector, dextra, dkeys, dattention, dcache, *dstate = differentiate(dfeatures, dfinal, *weights, *called)
    # What the steps share, their weights, is two products over all of them. The first has [x_t, h_{t−1}, r_{t−1}, 1].
    # Controllers that take turns (V of them, mostly one) have a share of everything.
    count = state[0].shape[1] // interface.shape[1]
    hidden, reads = state[0].unflatten(1, (count, -1)), state[-1].reshape(len(state[-1]), count, -1)
    sizes = [inputs.shape[2] // count, hidden.shape[2], reads.shape[2], 1]
    channels, size = sizes[:2]
    seen = pool.take((*inputs.shape[:2], count, sum(sizes)), inputs)
    seen[..., :channels] = inputs.unflatten(2, (count, -1))
    seen[:1, ..., channels:-1] = torch.cat([hidden, reads], dim=2)
    seen[1:, ..., channels:-1] = features[:-1].unflatten(2, (count, -1))
    seen[..., -1] = 1
    if cache is not None:
        recalls = (schedule & RECALL).bool().view(*schedule.shape, 1, 1)
        at_hidden = seen[..., channels : channels + size]
        at_hidden.copy_(torch.where(recalls, workspaces[-1].unsqueeze(2), at_hidden))
    counting = None if _traced() else rows_that_count(lengths, *inputs.shape[:2])
    accessing = None if _traced() else rows_that_count(lengths, inputs.shape[0], inputs.shape[1], schedule)
    total: Any = over_steps.operator if watched else over_steps.sum_over_steps

    def of_each(gradient: Tensor, found: Tensor, which: Tensor | None) -> Tensor:
        """The gradients of each controller's weights, one below the other."""
        sides = zip(gradient.flatten(0, 1).chunk(count, dim=1), found.flatten(0, 1).unbind(1), strict=True)
        return torch.cat([total(left, right, which) for left, right in sides])

    at_x, at_h, at_r, at_one = of_each(dpre, seen, counting).split_with_sizes(sizes, dim=1)
    by_controller = zip(dpre.chunk(count, dim=2), from_inputs[:, :channels].chunk(count), strict=True)
    return (
        torch.cat([own @ weight for own, weight in by_controller], dim=2) if inputs.requires_grad else None,
        torch.cat([at_x, at_r], dim=1),
        None if from_hidden is None else at_h,
        None if bias is None else at_one.squeeze(1),
        of_each(dvector, features.unflatten(2, (count, -1))[..., :size], accessing),
        None if interface_bias is None else dvector.sum((0, 1)),
        *(
            None if part is None else gradient.sum(0).view_as(part)
            for part, gradient in zip(by_row, (dextra, dkeys, dattention), strict=True)
        ),
        None if cache is None else dcache,
        dstate,
        *(None,) * 7,
    )


def rows_that_count(lengths: Tensor | None, steps: int, batch: int, schedule: Tensor | None = None) -> Tensor | None:
    """Where the steps of all rows are in a line, T·B, those before the end of their row that access the memory.

    Without a schedule all do. None where few do not count.
    """
    if lengths is None and schedule is None:
        return None
    active = torch.ones(steps, batch, dtype=torch.bool) if schedule is None else (schedule & ACCESS).bool()
    if lengths is not None:
        active = active.to(lengths.device) & (torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths)
    return None if int(active.sum()) >= MOSTLY * steps * batch else active.flatten().nonzero().squeeze(1)


sequence.register_autograd(_backward, setup_context=_keep_for_backward)


def _no_second_derivative(ctx: Any, *gradients: Any) -> None:
    raise RuntimeError("the native engine has no second derivatives: make the MANN with engine='reference'")


sequence_backward.register_autograd(_no_second_derivative)
over_steps.operator.register_autograd(_no_second_derivative)


class _Eager(torch.autograd.Function):
    """The same without the operators' dispatch, which costs more than a short sequence."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, ...]:
        """Tensors come one by one; the rest is as in :func:`_run`."""
        inputs = _gather(arguments)
        output = _run(*inputs)
        _keep_for_backward(ctx, inputs, output)
        return tuple(output[:-WORKSPACES])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        """In the order of the arguments."""
        result = _backward(ctx, gradients)
        weights, dstate, others = result[:WEIGHTS], result[WEIGHTS], result[WEIGHTS + 1 :]
        return (*others, *weights, *dstate)


def _gather(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    plain, weights, state = arguments[:PLAIN], arguments[PLAIN : PLAIN + WEIGHTS], arguments[PLAIN + WEIGHTS :]
    return (*weights, list(state), *plain)


def _traced() -> bool:
    """Whether torch.compile or torch.export looks on."""
    return torch.compiler.is_compiling()


def run_sequence(
    weights: Sequence[Any],
    state: list[Tensor],
    others: tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None],
    kernel: str,
    numbers: list[float],
) -> tuple[Tensor, list[Tensor]]:
    """The features and the final state.

    ``weights`` begin with the inputs, ``others`` are ends, noise, lengths and schedule, as in :func:`_run`.
    """
    learning = (part for part in (*weights, *state) if part is not None)
    keep = torch.is_grad_enabled() and any(part.requires_grad for part in learning)
    if keep and not _traced():
        features, *final = _Eager.apply(*others, kernel, numbers, keep, *weights, *state)  # type: ignore[no-untyped-call]
        return features, final
    run: Any = sequence if _traced() else _run
    features, *final = run(*weights, state, *others, kernel, numbers, keep)[:-WORKSPACES]
    return features, final


class _Step(torch.autograd.Function):
    """A memory's step: interface vectors and a state in, the next state out."""

    @staticmethod
    def forward(ctx: Any, kernel: str, numbers: list[float], write: bool, vector: Tensor, *state: Tensor) -> Any:
        """Nothing is kept but what came in."""
        ctx.kernel, ctx.numbers, ctx.write = kernel, numbers, write
        ctx.set_materialize_grads(False)
        vector, *parts = _contiguous(vector, *state)
        ctx.save_for_backward(vector, *parts)
        final = [torch.empty_like(part) for part in parts]
        forward = StepCall(pointer(vector), pointers(parts), pointers(final), write)
        call(kernel, "step_forward", vector.dtype, _config(numbers, 1, vector.shape[0], keep=False), forward)
        return tuple(final)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Any, ...]:
        """Take the step again, and back."""
        vector, *state = ctx.saved_tensors
        dfinal = [vector.new_empty(0) if part is None else part.contiguous() for part in gradients]
        dvector, dstate = torch.empty_like(vector), [torch.empty_like(part) for part in state]
        forward = StepCall(pointer(vector), pointers(state), None, ctx.write)
        backward = StepBackwardCall(pointers(dfinal), pointer(dvector), pointers(dstate))
        config = _config(ctx.numbers, 1, vector.shape[0], keep=True)
        call(ctx.kernel, "step_backward", vector.dtype, config, forward, backward)
        return (None, None, None, dvector, *dstate)


def run_step(vector: Tensor, state: Sequence[Tensor], write: bool, kernel: str, numbers: list[float]) -> list[Tensor]:
    """The state after a step of a memory."""
    return list(_Step.apply(kernel, numbers, write, vector, *state))  # type: ignore[no-untyped-call]
