"""The memories of a traced cell, each with its interface and its state over time, for one row of the batch.

Letters: ``T`` steps.

Most cells have one memory. Several side by side, as those of two views, are told apart by numbers; a memory behind a
write cache is taken out of it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from jaxtyping import Bool
from torch import Tensor

from mnemon.memory.attention import AttentionState
from mnemon.memory.joined import Joined
from mnemon.memory.lmu import LegendreState
from mnemon.memory.write_cache import CachedInterface, CachedState
from mnemon.state import map_state
from mnemon.trace import CellTrace


class Watched(NamedTuple):
    """One memory of one cell; every tensor begins with T and has no batch."""

    module: str
    cell: str  # what the module is called on the page
    number: int | None  # where the cell has several
    interface: dict[str, Any]
    state: dict[str, Any]  # with ``memory`` where there is any
    written: Bool[Tensor, "T"]
    space: str  # a name for its slots, which cells that hand a memory on have in common

    @property
    def has_slots(self) -> bool:
        """Whether the rows of the memory are slots that are written and read, not numbers of a key."""
        return "read_weights" in self.state

    def of(self, title: str) -> str:
        """A title that says of which memory something is."""
        return title if self.number is None else f"{title}, memory {self.number}"


def memories_of(module: str, name: str, trace: CellTrace, row: int, steps: int) -> list[Watched]:
    """All memories of a cell, for the first ``steps`` steps of a row."""

    def cut(part: Tensor) -> Tensor:
        return part[:steps, row]

    found = list(_single(map_state(cut, trace.interface), map_state(cut, trace.state)))
    written = cut(trace.written)
    numbers = [None] if len(found) == 1 else list(range(1, 1 + len(found)))
    return [
        Watched(module, name, number, interface._asdict(), _fields(state), written, f"{module}, memory {number or 1}")
        for number, (interface, state) in zip(numbers, found, strict=True)
    ]


def _single(interface: Any, state: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(state, Joined):
        for own_interface, own_state in zip(interface, state, strict=True):
            yield from _single(own_interface, own_state)
    elif isinstance(state, CachedState):
        assert isinstance(interface, CachedInterface)
        yield interface.memory, state.memory
    else:
        yield interface, state


def _fields(state: Any) -> dict[str, Any]:
    """By name; what plays the part of a memory is called so."""
    fields: dict[str, Any] = state._asdict()
    if isinstance(state, LegendreState):
        fields["memory"] = state.memory
    if isinstance(state, AttentionState):
        fields["memory"] = state.values
    return fields
