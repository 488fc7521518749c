"""Watching a memory work: ``with record_trace(model) as trace:`` keeps every weighting, gate and memory over time.

Letters: ``T`` steps recorded.

A trace changes nothing that the model returns. It holds the interfaces and states of each memory cell as the same
NamedTuples, their tensors stacked over time: ``trace.state.read_weights`` is (T, B, R, N), and
``trace.controller.hidden`` is (T, B, H). Where the interface stores programs, ``trace.programs`` is their distribution,
(T, B, stores, P).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.state import detach, map_state


class CellTrace:
    """What one cell did. Empty until the model has run."""

    def __init__(self) -> None:
        self._interfaces: list[Any] = []
        self._states: list[Any] = []
        self._controllers: list[Any] = []
        self._programs: list[Tensor] = []

    def __len__(self) -> int:
        return len(self._states)

    def add(self, interface: Any, state: Any, controller: Any, programs: Tensor | None) -> None:
        """Keep one step."""
        self._interfaces.append(detach(interface))
        self._states.append(detach(state))
        self._controllers.append(detach(controller))
        if programs is not None:
            self._programs.append(programs.detach())

    @property
    def interface(self) -> Any:
        """The memory's interface at every step: keys, gates, strengths, … each (T, B, …)."""
        return _stack(self._interfaces)

    @property
    def state(self) -> Any:
        """The memory's state after every step: memory, weightings, usage, … each (T, B, …)."""
        return _stack(self._states)

    @property
    def controller(self) -> Any:
        """The controller's state after every step: its hidden units and what else it carries, each (T, B, H)."""
        return _stack(self._controllers)

    @property
    def has_programs(self) -> bool:
        """Whether stored programs steered the memory."""
        return bool(self._programs)

    @property
    def programs(self) -> Tensor:
        """How much of each stored program steered the memory at every step: (T, B, stores, P)."""
        if self._states and not self._programs:
            raise UserError("this cell stores no programs: give it a StoredProgramInterface")
        return torch.stack(_recorded(self._programs))


class Trace(Mapping[str, CellTrace]):
    """The traces of a model's cells by module name; with a single cell, also that cell's own trace."""

    def __init__(self, cells: dict[str, nn.Module]) -> None:
        self._cells = {cell: CellTrace() for cell in cells.values()}
        self._names = {name: self._cells[cell] for name, cell in cells.items()}

    def __getitem__(self, name: str) -> CellTrace:
        return self._names[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def interface(self) -> Any:
        """The interfaces of the only cell."""
        return self._only().interface

    @property
    def state(self) -> Any:
        """The states of the only cell."""
        return self._only().state

    @property
    def controller(self) -> Any:
        """The controller's states in the only cell."""
        return self._only().controller

    @property
    def has_programs(self) -> bool:
        """Whether stored programs steered the memory of the only cell."""
        return self._only().has_programs

    @property
    def programs(self) -> Tensor:
        """The program distributions of the only cell."""
        return self._only().programs

    def _only(self) -> CellTrace:
        if len(self._names) != 1:
            raise UserError(f"this trace has {len(self)} cells: take one of trace[name] with {list(self)}")
        return next(iter(self._names.values()))

    def observe(self, cell: nn.Module, interface: Any, state: Any, controller: Any, programs: Tensor | None) -> None:
        """Keep one step of one of the traced cells."""
        if cell in self._cells:
            self._cells[cell].add(interface, state, controller, programs)


_recording: list[Trace] = []


def is_recording() -> bool:
    """Whether anyone is watching."""
    return bool(_recording)


def observe(cell: nn.Module, interface: Any, state: Any, controller: Any, programs: Tensor | None = None) -> None:
    """Called by a cell after each step; does nothing unless a trace is being recorded."""
    for trace in _recording:
        trace.observe(cell, interface, state, controller, programs)


@contextmanager
def record_trace(model: nn.Module) -> Iterator[Trace]:
    """Record what the memory cells of ``model`` do while the block runs."""
    cells = {name: module for name, module in model.named_modules() if hasattr(module, "memory")}
    trace = Trace(cells)
    _recording.append(trace)
    try:
        yield trace
    finally:
        _recording.remove(trace)


def _recorded(steps: list[Any]) -> list[Any]:
    if not steps:
        raise UserError("nothing was recorded: run the model inside the with block")
    return steps


def _stack(steps: list[Any]) -> Any:
    def over_time(*parts: Tensor) -> Tensor:
        return torch.stack(parts)

    return map_state(over_time, *_recorded(steps))
