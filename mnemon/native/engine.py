"""Running a cell on the kernels: what they cover, and a call of them.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``F`` features.
"""

import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.interface import HeadwiseInterface, LinearInterface, NormalisedInterface
from mnemon.memory import DNCMemory, JoinedMemory, Memory
from mnemon.memory.base import Advance, advance_in_torch
from mnemon.memory.joined import Joined
from mnemon.native.library import LIBRARY, SUFFIX
from mnemon.native.operator import MOSTLY, RECALL, cell_numbers, run_sequence, run_step
from mnemon.native.parts import CONTROLLERS, INTERFACES, MEMORIES, dnc_options, sizes_of
from mnemon.writing import (
    Access,
    CachedUniformWriting,
    RandomWriting,
    RegularWriting,
    UniformWriting,
    WriteProtected,
    Writing,
)

WRITINGS = (RegularWriting, WriteProtected, UniformWriting, RandomWriting, CachedUniformWriting)

FEW_STEPS = 8  # in which nothing is gained by putting rows in order
MOST_HEADS = 64  # of one kind: room for their strengths in ntm.hpp
MOST_CACHED = 1024  # outputs: room for their addresses in network.hpp


def notice_if_not_built() -> None:
    """Say once that everything is slower than it need be."""
    if LIBRARY is None and not torch.compiler.is_compiling():
        _notice()


@cache
def _notice() -> None:
    warnings.warn(
        "mnemon has no compiled kernels here and runs on its reference engine, which gives the same but takes several "
        "times as long: install CMake and a C++ compiler, then mnemon again, with pip's --force-reinstall "
        "--no-cache-dir; or write engine='reference' to be told no more",
        stacklevel=2,
    )


def why_not(cell: MemoryCell, inputs: Tensor) -> str | None:
    """Why the kernels cannot run this cell on this input, or None where they can."""
    return why_no_step(cell, inputs) or next(_missing_kernels(cell), None)


def why_no_step(cell: MemoryCell, inputs: Tensor) -> str | None:
    """Why the kernels cannot even take the memory's steps, or None where they can."""
    return next(_obstacles(cell, inputs), None)


def _missing_kernels(cell: MemoryCell) -> Iterator[str]:
    if type(cell.memory) not in MEMORIES:
        yield f"no kernel for {type(cell.memory).__name__} as a whole"
    if not _alike(cell.memory):
        yield "no kernel for joined memories but DNCs that are alike"
    yield from missing_around_memory(cell)
    if type(cell.writing) not in WRITINGS:
        yield f"no kernel for {type(cell.writing).__name__}"
    if _recalling(cell.writing).get("cached", 0) > MOST_CACHED:
        yield f"the kernels recall at most {MOST_CACHED} outputs"


def missing_around_memory(cell: MemoryCell) -> Iterator[str]:
    """Why the kernels cannot run the controller and the interface of a cell."""
    if type(cell.controller) not in CONTROLLERS:
        yield f"no kernel for {type(cell.controller).__name__}"
    if not cell.sees_reads:
        yield "no kernel for a cell that does not see what it reads"
    if cell.controller.programs is not None:
        yield "no kernel for programs in the state network"
    interface = cell.interface.interface if isinstance(cell.interface, NormalisedInterface) else cell.interface
    heads = [*interface.heads] if isinstance(interface, HeadwiseInterface) else []
    if type(interface) not in INTERFACES or any(type(head) is not LinearInterface for head in heads):
        yield f"no kernel for {type(interface).__name__}"


def _obstacles(cell: MemoryCell, inputs: Tensor) -> Iterator[str]:
    if LIBRARY is None:
        yield "the kernels are not built"
    if (unknown := _without_kernel(cell.memory)) is not None:
        yield f"no kernel for {unknown}"
    if _most_heads(cell.memory) > MOST_HEADS:
        yield f"the kernels have at most {MOST_HEADS} heads"
    if inputs.device.type != "cpu":
        yield f"the kernels run on the CPU, not on {inputs.device.type}"
    if inputs.dtype not in SUFFIX:
        yield f"the kernels run in float32 and float64, not in {inputs.dtype}"
    if torch.is_autocast_enabled(inputs.device.type):
        yield "autocast is on"


def advance_for(cell: MemoryCell, inputs: Tensor, engine: str) -> Advance:
    """What takes the memory's steps where a cell is run step by step."""
    if engine == "reference":
        return advance_in_torch
    reason = why_no_step(cell, inputs)
    if reason is None and not torch.compiler.is_compiling():
        return advance
    if engine == "native":
        raise UserError(f"the native engine cannot run this: {reason}; write engine='auto' or 'reference'")
    return advance_in_torch


def _without_kernel(memory: Memory[Any, Any]) -> str | None:
    """The first of a memory's parts that no kernel knows."""
    return next((type(part).__name__ for part in memory.parts if type(part) not in MEMORIES), None)


def _alike(memory: Memory[Any, Any]) -> bool:
    """Whether memories that are joined, if any are, are DNCs of one size and with the same options."""
    if not isinstance(memory, JoinedMemory):
        return True
    if any(type(one) is not DNCMemory for one in memory.memories):
        return False
    first, *others = (sizes_of(one) | dnc_options(one) for one in cast(Iterable[DNCMemory], memory.memories))
    return all(other == first for other in others)


def _most_heads(memory: Memory[Any, Any]) -> int:
    return max(count for part in memory.parts for count in part.head_counts)


def advance(memory: Memory[Any, Any], vector: Tensor, state: Any, write: bool) -> Any:
    """One step of a memory, steered by an interface vector."""
    name, options = MEMORIES[type(memory)]
    numbers = cell_numbers(sizes_of(memory) | options(memory))
    return type(state)(*run_step(vector, state, write, name, numbers))


def run(
    cell: MemoryCell, inputs: Float[Tensor, "T B I"], state: CellState, lengths: Int[Tensor, "rows"] | None
) -> tuple[Float[Tensor, "T B F"], CellState]:
    """The features of every step, and the final state."""
    steps, batch, _ = inputs.shape
    kernel = _kernel(cell)
    attention, cache = None, None
    if isinstance(cell.writing, CachedUniformWriting):
        attention = torch.cat([part.flatten() for part in (cell.writing.query, cell.writing.key, cell.writing.score)])
        cache = state.writing.hidden
    lengths = None if lengths is None else lengths.to(torch.int64).contiguous()
    noise, schedule = cell.interface.draw_noise(steps, batch), _schedule(cell, state, steps, batch)
    order = _longest_first(lengths, steps)
    others = (kernel.ends, _ordered(noise, 1, order), _ordered(lengths, 0, order), _ordered(schedule, 1, order))
    weights = (_ordered(inputs, 1, order), *kernel.weights, attention, _ordered(cache, 0, order))
    parts = [_ordered(part, 0, order) for part in (*state.controller, *_tensors(state.memory))]
    features, final = run_sequence(weights, parts, others, kernel.name, kernel.numbers)
    if order is not None:
        back = order.argsort()
        features, final = features.index_select(1, back), [part.index_select(0, back) for part in final]
    split = len(state.controller)
    hidden, outputs = state.controller.hidden, features[..., : cell.controller.hidden_size]
    return features, CellState(
        type(state.controller)(*final[:split]),
        _like(state.memory, final[split:]),
        cell.writing.advance(state.writing, hidden, outputs, lengths),
    )


def _longest_first(lengths: Int[Tensor, "B"] | None, steps: int) -> Int[Tensor, "B"] | None:
    """The order in which rows of very different lengths run fastest: those that go together end together."""
    if lengths is None or torch.compiler.is_compiling() or steps < FEW_STEPS:
        return None
    if int(lengths.sum()) > MOSTLY * steps * len(lengths):
        return None
    return lengths.argsort(descending=True, stable=True)


def _ordered(part: Tensor | None, axis: int, order: Int[Tensor, "B"] | None) -> Any:
    return part if part is None or order is None else part.index_select(axis, order)


def _tensors(state: Any) -> list[Tensor]:
    """A memory's state as the kernels take it: of joined ones, what was read from all is one, the last."""
    if not isinstance(state, Joined):
        return list(state)
    return [*(part for one in state for part in one[:-1]), state.reads]


def _like(state: Any, tensors: list[Tensor]) -> Any:
    """A state of the same kind from the kernels' tensors."""
    if not isinstance(state, Joined):
        return type(state)(*tensors)
    *others, reads = tensors
    read, count = reads.flatten(1).split_with_sizes([one.reads[0].numel() for one in state], dim=1), len(state[0]) - 1
    own = (others[number * count : (number + 1) * count] for number in range(len(state)))
    return Joined(
        *(type(one)(*rest, last.view_as(one.reads)) for one, rest, last in zip(state, own, read, strict=True))
    )


def _schedule(cell: MemoryCell, state: CellState, steps: int, batch: int) -> UInt8[Tensor, "T B"] | None:
    """What each step does, by row; None where all write."""
    plan = cell.writing.plan(state.writing, steps)
    if isinstance(plan, Access):
        return None if plan is Access.WRITE else torch.full((steps, batch), int(plan), dtype=torch.uint8)
    recalls = cell.writing.recalls(state.writing, steps)
    return (plan if recalls is None else plan + RECALL * recalls).to(torch.uint8).contiguous()


def _recalling(writing: Writing[Any]) -> dict[str, Any]:
    if not isinstance(writing, CachedUniformWriting):
        return {}
    return {"cached": writing.interval, "attention": writing.attention_size}


class _Kernel(NamedTuple):
    """A cell as the kernels take it."""

    name: str
    numbers: list[float]
    weights: tuple[Tensor | None, ...]
    ends: Tensor | None


def _kernel(cell: MemoryCell) -> _Kernel:
    controller, memory = cell.controller, cell.memory
    controller_name, pack = CONTROLLERS[type(controller)]
    memory_name, options = MEMORIES[type(memory)]
    weights, interface = pack(controller), INTERFACES[type(cell.interface)](cell.interface)
    sizes = {
        "input": controller.input_size,
        "hidden": controller.hidden_size,
        "preactivations": weights.inputs.shape[0],
        **sizes_of(memory),
        **options(memory),
        **interface.options,
        **_recalling(cell.writing),
    }
    extras = [extra for extra in (weights.extra, interface.extra) if extra is not None]
    both = (
        weights.inputs,
        weights.hidden,
        weights.bias,
        interface.weight,
        interface.bias,
        torch.cat(extras) if extras else None,
        interface.keys,
    )
    return _Kernel(f"{controller_name}_{memory_name}", cell_numbers(sizes), both, interface.ends)
