"""Cells that use one memory in turns, on the kernels (early fusion, mnemon/models/encoder.py).

Letters: ``V`` cells, ``T`` steps, ``B`` batch, ``E`` input of one cell, ``F`` features of one.

No controller sees in a round what another does in it: so all can go before the first turn at the memory. To the kernels
a round is therefore one step, of controllers side by side, and the turns are within their memory (src/turns.hpp). A
cell that has come to the end of a row must stand still there while others go on: it has no turn at the memory, an
LSTM's gates are held by an input that says so, and what it put out last is taken there.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from mnemon.cell import CellState, MemoryCell
from mnemon.interface import HeadwiseInterface, LinearInterface
from mnemon.memory import WriteCache
from mnemon.memory.dnc import DNCState
from mnemon.memory.write_cache import CachedState
from mnemon.native import engine
from mnemon.native.operator import FIRST_TURN, cell_numbers, run_sequence
from mnemon.native.parts import ALWAYS, CONTROLLERS, INTERFACES, dnc_options, sizes_of
from mnemon.writing import Access, RegularWriting

MOST_VIEWS = 5  # a bit of a step's byte for each; kMost in src/turns.hpp

# Of the gates of each controller, what is added to them where it stands still; of others nothing need be held but what
# they put out.
HELD: dict[str, dict[int, float]] = {"lstm": {0: -ALWAYS, 1: ALWAYS}, "gru": {}, "tanh": {}}


def why_not(cells: Sequence[MemoryCell], inputs: Tensor) -> str | None:
    """Why the kernels cannot run these cells in turns, or None where they can."""
    return why_no_step(cells, inputs) or next(_missing_kernels(cells), None)


def why_no_step(cells: Sequence[MemoryCell], inputs: Tensor) -> str | None:
    """Why the kernels cannot even take the memory's steps, or None where they can."""
    return next((reason for cell in cells if (reason := engine.why_no_step(cell, inputs)) is not None), None)


def _missing_kernels(cells: Sequence[MemoryCell]) -> Iterator[str]:
    for cell in cells:
        yield from engine.missing_around_memory(cell)
        for part in (cell.interface, cell.writing):
            if not isinstance(part, LinearInterface | HeadwiseInterface | RegularWriting):
                yield f"no kernel for turns with {type(part).__name__}"
    if len(cells) > MOST_VIEWS:
        yield f"the kernels let at most {MOST_VIEWS} take turns, not {len(cells)}"
    if CONTROLLERS[type(cells[0].controller)][0] not in HELD:
        yield f"no kernel for turns of {type(cells[0].controller).__name__}"
    first, *others = map(_kind, cells)
    if any(other != first for other in others):
        yield "no kernel for turns of cells that are not alike"
    share, left = divmod(_memory(cells[0]).slots, len(cells))
    if left or any(_memory(cell).own != (view * share, (view + 1) * share) for view, cell in enumerate(cells)):
        yield "no kernel for turns at a memory with shares that are not equal"


def _kind(cell: MemoryCell) -> dict[str, Any]:
    """What must be the same for all."""
    controller, memory = cell.controller, _memory(cell)
    return {
        "controller": (type(controller), controller.input_size, controller.hidden_size),
        "interface": type(cell.interface),
        "biased": isinstance(cell.interface, LinearInterface) and cell.interface.biased,
        "memory": sizes_of(memory) | dnc_options(memory) | {"own_first": 0, "own_end": 0},
    }


def _memory(cell: MemoryCell) -> Any:
    return cast(WriteCache, cell.memory).memory


def run(
    cells: Sequence[MemoryCell],
    inputs: Sequence[Float[Tensor, "_ B E"]],
    states: Sequence[CellState],
    lengths: Sequence[Int[Tensor, "B"] | None],
) -> tuple[list[Float[Tensor, "_ B F"]], list[CellState]]:
    """The features of every cell at every step, and the final states."""
    steps, batch, count = max(len(each) for each in inputs), inputs[0].shape[1], len(cells)
    if not steps:
        return [own.new_zeros(0, batch, cell.feature_size) for cell, own in zip(cells, inputs, strict=True)], [*states]
    each_length = torch.stack(
        [
            torch.full((batch,), len(own)) if length is None else length.to(torch.int64)
            for own, length in zip(inputs, lengths, strict=True)
        ]
    )
    active = torch.arange(steps).view(-1, 1, 1) < each_length  # T V B
    held = (~active).to(inputs[0].dtype).unsqueeze(3).unbind(1)
    seen = [
        torch.cat([F.pad(own, (0, 0, 0, 0, 0, steps - len(own))), one], dim=2)
        for own, one in zip(inputs, held, strict=True)
    ]
    name, numbers, weights = _kernel(cells)
    others = (None, None, each_length.amax(0), _schedule(active))
    features, final = run_sequence((torch.cat(seen, dim=2), *weights), _tensors(states), others, name, numbers)
    each = features.chunk(count, dim=2)
    lasts = [_last(*own) for own in zip(each, each_length, states, strict=True)]
    return (
        [(own * active[:, view].unsqueeze(2))[: len(inputs[view])] for view, own in enumerate(each)],
        _states(states, lasts, final),
    )


def _schedule(active: Bool[Tensor, "T V B"]) -> Tensor:
    """All write whose turn it is."""
    turns = torch.arange(active.shape[1]).view(1, -1, 1) + FIRST_TURN
    return (Access.WRITE + (active.to(torch.int64) << turns).sum(1)).to(torch.uint8)


def _last(features: Float[Tensor, "T B F"], lengths: Int[Tensor, "B"], state: CellState) -> Float[Tensor, "B F"]:
    """What a cell put out at the end of each row; of an empty one, what it began with."""
    at_end = features[(lengths - 1).clamp(min=0), torch.arange(len(lengths))]
    before = torch.cat([state.controller.hidden, state.memory.reads.flatten(1)], dim=1)
    return torch.where((lengths > 0).unsqueeze(1), at_end, before)


def _tensors(states: Sequence[CellState]) -> list[Tensor]:
    """As the kernels take them: the controllers' side by side, everyone's memory, each one's own, and what was read."""
    controllers = [torch.cat(parts, dim=1) for parts in zip(*(state.controller for state in states), strict=True)]
    caches: list[CachedState] = [state.memory for state in states]
    shared = caches[0].memory
    own = [part for each in caches for part in (each.memory.precedence, each.memory.read_weights, each.cache)]
    reads = torch.cat([cache.reads.flatten(1) for cache in caches], dim=1)
    return [*controllers, shared.memory, shared.usage, shared.links, shared.write_weights, *own, reads]


def _states(states: Sequence[CellState], lasts: Sequence[Float[Tensor, "B F"]], final: list[Tensor]) -> list[CellState]:
    """The inverse; what was put out last is given."""
    parts, count = len(states[0].controller), len(states)
    controllers = [tensor.chunk(count, dim=1) for tensor in final[1:parts]]
    memory, usage, links, write_weights, *own = final[parts:-1]
    new = []
    for view, (state, last) in enumerate(zip(states, lasts, strict=True)):
        hidden, reads = last.tensor_split([state.controller.hidden.shape[1]], dim=1)
        precedence, read_weights, cache = own[3 * view : 3 * view + 3]
        read = reads.view_as(state.memory.reads)
        dnc = DNCState(memory, usage, links, precedence, read_weights, write_weights, read)
        controller = type(state.controller)(hidden, *(chunks[view] for chunks in controllers))
        new.append(CellState(controller, CachedState(dnc, cache), state.writing))
    return new


def _kernel(cells: Sequence[MemoryCell]) -> tuple[str, list[float], tuple[Tensor | None, ...]]:
    """The kernel, its numbers, and the weights of all cells, one after the other."""
    cell, count = cells[0], len(cells)
    controller, memory = cell.controller, _memory(cell)
    name, pack = CONTROLLERS[type(controller)]
    each = [pack(one.controller) for one in cells]
    interfaces = [INTERFACES[type(one.interface)](one.interface) for one in cells]
    rows, size = len(each[0].inputs), controller.hidden_size
    held = each[0].inputs.new_zeros(rows // size, size, 1)
    for gate, value in HELD[name].items():
        held[gate] = value
    sizes = {
        **sizes_of(memory),
        **dnc_options(memory),
        "input": count * (controller.input_size + 1),
        "hidden": count * size,
        "preactivations": count * rows,
        "interface": count * cell.memory.interface_size,
        "reads": count * memory.reads,
        "controllers": count,
    }
    weights = (
        torch.cat([_with_held(weights.inputs, held.view(rows, 1), controller.input_size) for weights in each]),
        _cat([weights.hidden for weights in each]),
        _cat([weights.bias for weights in each]),
        _cat([interface.weight for interface in interfaces]),
        _cat([interface.bias for interface in interfaces]),
        *(None,) * 4,
    )
    return f"{name}_turns", cell_numbers(sizes), weights


def _with_held(weights: Tensor, held: Tensor, inputs: int) -> Tensor:
    """On [x, whether it is held, r]."""
    of_inputs, of_reads = weights.tensor_split([inputs], dim=1)
    return torch.cat([of_inputs, held, of_reads], dim=1)


def _cat(tensors: Sequence[Tensor | None]) -> Tensor | None:
    """All have it, or none."""
    there = [tensor for tensor in tensors if tensor is not None]
    return torch.cat(there) if there else None
