"""Running a cell on the kernels: what they cover, and how a cell's weights are laid out for them.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``F`` features.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from mnemon.cell import CellState, MemoryCell
from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
)
from mnemon.interface import LinearInterface
from mnemon.memory import DNCMemory, LRUAMemory, NTMMemory
from mnemon.native.library import LIBRARY, SUFFIX
from mnemon.native.operator import WORKSPACES, cell_numbers, sequence
from mnemon.writing import (
    Access,
    CachedUniformWriting,
    RandomWriting,
    RegularWriting,
    UniformWriting,
    WriteProtected,
)


class Weights(NamedTuple):
    """A controller's weights as the kernels take them."""

    inputs: Tensor  # P I
    bias: Tensor | None  # P
    recurrent: Tensor  # (H + R·W) P, acts on [h, r]
    extra: Tensor


def _plain(controller: Controller[Any]) -> Weights:
    """One matrix for [x, r], one for h, side by side; both biases are one."""
    size = controller.input_size
    assert controller.weight_hh is not None
    assert controller.bias_ih is not None
    assert controller.bias_hh is not None
    recurrent = torch.cat([controller.weight_hh, controller.weight_ih[:, size:]], dim=1).T
    bias = controller.bias_ih + controller.bias_hh
    return Weights(controller.weight_ih[:, :size], bias, recurrent, bias.new_empty(0))


def _feed_forward(controller: Controller[Any]) -> Weights:
    """Nothing comes from h."""
    size, weight = controller.input_size, controller.weight_ih
    recurrent = torch.cat([weight.new_zeros(weight.shape[0], controller.hidden_size), weight[:, size:]], dim=1).T
    return Weights(weight[:, :size], controller.bias_ih, recurrent, weight.new_empty(0))


def _gated(controller: Controller[Any]) -> Weights:
    """The candidate's two parts stay apart, [r, z, n_x, n_h]: what comes from h is reset before they are added."""
    size, hidden = controller.input_size, controller.hidden_size
    assert controller.weight_hh is not None
    assert controller.bias_ih is not None
    assert controller.bias_hh is not None
    zeros = controller.weight_ih.new_zeros
    from_inputs = F.pad(controller.weight_ih, (0, 0, 0, hidden))  # rows r, z, n_x, and none of n_h
    gates, candidate = controller.weight_hh[: 2 * hidden], controller.weight_hh[2 * hidden :]
    from_hidden = torch.cat([gates, zeros(hidden, hidden), candidate])
    recurrent = torch.cat([from_hidden, from_inputs[:, size:]], dim=1).T
    bias_gates, bias_candidate = controller.bias_hh[: 2 * hidden], controller.bias_hh[2 * hidden :]
    bias = F.pad(controller.bias_ih, (0, hidden)) + torch.cat([bias_gates, zeros(hidden), bias_candidate])
    return Weights(from_inputs[:, :size], bias, recurrent, zeros(0))


def _normalised(controller: Controller[Any]) -> Weights:
    """No biases but those of the normalisations."""
    assert isinstance(controller, LayerNormLSTMController)
    assert controller.weight_hh is not None
    size = controller.input_size
    recurrent = torch.cat([controller.weight_hh, controller.weight_ih[:, size:]], dim=1).T
    extra = torch.cat([controller.norm_gain.flatten(), controller.norm_bias.flatten()])
    return Weights(controller.weight_ih[:, :size], None, recurrent, extra)


CONTROLLERS: dict[type[Controller[Any]], tuple[str, Callable[[Controller[Any]], Weights]]] = {
    LSTMController: ("lstm", _plain),
    LayerNormLSTMController: ("layer_norm_lstm", _normalised),
    GRUController: ("gru", _gated),
    ElmanController: ("tanh", _plain),
    FeedForwardController: ("tanh", _feed_forward),
}


def _ntm(memory: NTMMemory) -> dict[str, Any]:
    return {"writes": memory.writes, "shift_reach": memory.shift_reach, "read_first": memory.read_first}


def _dnc(memory: DNCMemory) -> dict[str, Any]:
    options = ("links", "masked_lookup", "erase_freed", "sharp_links", "read_first")
    return {"writes": 1, "clip": memory.clip or 0.0} | {name: getattr(memory, name) for name in options}


def _lrua(memory: LRUAMemory) -> dict[str, Any]:
    return {"strengths": memory.strengths, "decay": memory.decay, "read_first": memory.read_first}


MEMORIES: dict[type[Any], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    NTMMemory: ("ntm", _ntm),
    DNCMemory: ("dnc", _dnc),
    LRUAMemory: ("lrua", _lrua),
}


WRITINGS = (RegularWriting, WriteProtected, UniformWriting, RandomWriting, CachedUniformWriting)

MOST_HEADS = 64  # of one kind: room for their strengths in ntm.hpp


def why_not(cell: MemoryCell, inputs: Tensor) -> str | None:
    """Why the kernels cannot run this cell on this input, or None where they can."""
    parts = (type(cell.controller) in CONTROLLERS, type(cell.memory) in MEMORIES)
    reasons = {
        "the kernels are not built": LIBRARY is None,
        f"no kernel for {type(cell.controller).__name__}": not parts[0],
        f"no kernel for {type(cell.memory).__name__}": not parts[1],
        f"the kernels have at most {MOST_HEADS} heads": max(cell.memory.head_counts) > MOST_HEADS,
        f"no kernel for {type(cell.interface).__name__}": type(cell.interface) is not LinearInterface,
        f"no kernel for {type(cell.writing).__name__}": type(cell.writing) not in WRITINGS,
        f"the kernels run on the CPU, not on {inputs.device.type}": inputs.device.type != "cpu",
        f"the kernels run in float32 and float64, not in {inputs.dtype}": inputs.dtype not in SUFFIX,
        "autocast is on": torch.is_autocast_enabled(inputs.device.type),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def run(
    cell: MemoryCell, inputs: Float[Tensor, "T B I"], state: CellState, lengths: Int[Tensor, "rows"] | None
) -> tuple[Float[Tensor, "T B F"], CellState]:
    """The features of every step, and the final state.

    One call of the kernel; or, where the writing policy changes what the controller goes on from, one between any two
    of these changes.
    """
    steps, hidden_size = inputs.shape[0], cell.controller.hidden_size
    kernel = _kernel(cell)
    projected = F.linear(inputs, kernel.weights.inputs, kernel.weights.bias)
    features = []
    breaks = [0, *(step for step in cell.writing.recalls(state.writing, steps) if step), steps]
    for start, stop in itertools.pairwise(breaks):
        part = projected[start:stop]
        left = None if lengths is None else (lengths.to(torch.int64) - start).clamp(0, stop - start)
        before = state.controller.hidden
        if stop > start:
            recalled = cell.writing.recall(state.writing, before, state.memory.reads.flatten(1))
            if left is not None:
                recalled = torch.where((left > 0).unsqueeze(1), recalled, before)
            state = state._replace(controller=state.controller._replace(hidden=recalled))
        outputs, state = _segment(kernel, cell, part, state, left)
        befores = torch.cat([before.unsqueeze(0), outputs[: stop - start - 1, :, :hidden_size]])[: stop - start]
        state = state._replace(writing=cell.writing.advance(state.writing, befores, left))
        features.append(outputs)
    return features[0] if len(features) == 1 else torch.cat(features), state


class _Kernel(NamedTuple):
    """A cell as the kernels take it."""

    name: str
    numbers: list[float]
    weights: Weights
    interface: Tensor
    interface_bias: Tensor


def _kernel(cell: MemoryCell) -> _Kernel:
    controller, memory = cell.controller, cell.memory
    controller_name, pack = CONTROLLERS[type(controller)]
    memory_name, options = MEMORIES[type(memory)]
    weights = pack(controller)
    assert isinstance(cell.interface, LinearInterface)
    sizes = {
        "hidden": controller.hidden_size,
        "preactivations": weights.recurrent.shape[1],
        "interface": memory.interface_size,
        "slots": memory.slots,
        "word": memory.word,
        "reads": memory.reads,
        **options(memory),
    }
    vector_weight, given = cell.interface.weight, cell.interface.bias
    vector_bias = vector_weight.new_zeros(vector_weight.shape[0]) if given is None else given
    return _Kernel(f"{controller_name}_{memory_name}", cell_numbers(sizes), weights, vector_weight.T, vector_bias)


def _segment(
    kernel: _Kernel, cell: MemoryCell, projected: Tensor, state: CellState, lengths: Tensor | None
) -> tuple[Float[Tensor, "T B F"], CellState]:
    """Some steps in one call."""
    steps, batch, _ = projected.shape
    plan = cell.writing.plan(state.writing, steps)
    if isinstance(plan, Access):
        schedule = None if plan is Access.WRITE else torch.full((steps, batch), int(plan), dtype=torch.uint8)
    else:
        schedule = plan.contiguous()
    weights = [kernel.weights.recurrent, kernel.interface, kernel.interface_bias, kernel.weights.extra]
    parts = [*state.controller, *state.memory]
    keep = torch.is_grad_enabled() and any(part.requires_grad for part in (projected, *weights, *parts))
    outputs = sequence(projected, *weights, parts, lengths, schedule, kernel.name, kernel.numbers, keep)
    features, *final = outputs[:-WORKSPACES]
    split = len(state.controller)
    controller, memory = type(state.controller)(*final[:split]), type(state.memory)(*final[split:])
    return features, CellState(controller, memory, state.writing)
