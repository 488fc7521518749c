"""Watching a memory work: ``with record_trace(model) as trace:`` keeps every weighting, gate and memory over time.

Letters: ``T`` steps recorded, ``B`` batch, ``K`` modes, or hops of a memory network.

A trace changes nothing that the model returns. It holds the interfaces and states of each memory cell as the same
NamedTuples, their tensors stacked over time: ``trace.state.read_weights`` is (T, B, R, N), and
``trace.controller.hidden`` is (T, B, H). Where the interface stores programs, ``trace.programs`` is their distribution,
(T, B, stores, P); where reads become the modes of a latent variable, ``trace.modes`` has their weights, (T, B, K).
A memory network has no cells but hops: ``trace.hops`` tells where each looked, (K, B, T) over the words of a story.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.state import detach, map_state


class Step(NamedTuple):
    """What a cell shows of one step."""

    interface: Any
    state: Any  # of the memory
    controller: Any
    written: Bool[Tensor, "B"]
    programs: Tensor | None = None


class CellTrace:
    """What one cell did. Empty until the model has run."""

    def __init__(self) -> None:
        self._interfaces: list[Any] = []
        self._states: list[Any] = []
        self._controllers: list[Any] = []
        self._programs: list[Tensor] = []
        self._written: list[Tensor] = []
        self._modes: list[Tensor] = []

    def __len__(self) -> int:
        return len(self._states)

    def add(self, step: Step) -> None:
        """Keep one step."""
        self._interfaces.append(detach(step.interface))
        self._states.append(detach(step.state))
        self._controllers.append(detach(step.controller))
        self._written.append(step.written)
        if step.programs is not None:
            self._programs.append(step.programs.detach())

    def add_modes(self, weights: Float[Tensor, "B K"]) -> None:
        """Keep the modes' weights of one step."""
        self._modes.append(weights.detach())

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

    @property
    def written(self) -> Bool[Tensor, "T B"]:
        """Whether each step wrote the memory: one between two writes did not, nor did a row that had ended."""
        return torch.stack(_recorded(self._written))

    @property
    def has_modes(self) -> bool:
        """Whether the cell was part of a decoder with a latent variable."""
        return bool(self._modes)

    @property
    def modes(self) -> Float[Tensor, "T B K"]:
        """The weight of each mode of the latent variable's prior, at every step."""
        if self._states and not self._modes:
            raise UserError("this cell has no latent variable: trace a variational model")
        return torch.stack(_recorded(self._modes))


class Trace(Mapping[str, CellTrace]):
    """The traces of a model's cells by module name; with a single cell, also that cell's own trace."""

    def __init__(self, cells: dict[str, nn.Module], networks: Collection[nn.Module] = ()) -> None:
        self._networks = networks  # whose hops are kept
        self._hops: Float[Tensor, "K B T"] | None = None
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

    @property
    def has_hops(self) -> bool:
        """Whether a memory network has read a story."""
        return self._hops is not None

    @property
    def hops(self) -> Float[Tensor, "K B T"]:
        """How much each hop of a memory network looked at each word of the last story, or at the word's sentence."""
        if self._hops is None:
            raise UserError(
                "no hops were recorded: run an end-to-end or key-value memory network inside the with block"
            )
        return self._hops

    def _only(self) -> CellTrace:
        if len(self._names) != 1:
            raise UserError(f"this trace has {len(self)} cells: take one of trace[name] with {list(self)}")
        return next(iter(self._names.values()))

    def observe(self, cell: nn.Module, step: Step) -> None:
        """Keep one step of one of the traced cells."""
        if cell in self._cells:
            self._cells[cell].add(step)

    def observe_modes(self, cell: nn.Module, weights: Float[Tensor, "B K"]) -> None:
        """Keep the weights of the modes that one of the traced cells goes on with."""
        if cell in self._cells:
            self._cells[cell].add_modes(weights)

    def observe_hops(self, network: nn.Module, weights: Float[Tensor, "K B T"]) -> None:
        """Keep where the hops of the traced network looked."""
        if network in self._networks:
            self._hops = weights.detach()


_recording: list[Trace] = []


def is_recording() -> bool:
    """Whether anyone is watching."""
    return bool(_recording)


def observe(cell: nn.Module, step: Step) -> None:
    """Called by a cell after each step; does nothing unless a trace is being recorded."""
    for trace in _recording:
        trace.observe(cell, step)


def observe_modes(cell: nn.Module, weights: Float[Tensor, "B K"]) -> None:
    """Called by a decoder with a latent variable before each step of its cell."""
    for trace in _recording:
        trace.observe_modes(cell, weights)


def observe_hops(network: nn.Module, weights: Float[Tensor, "K B T"]) -> None:
    """Called by a memory network when it has read a story."""
    for trace in _recording:
        trace.observe_hops(network, weights)


@contextmanager
def record_trace(model: nn.Module) -> Iterator[Trace]:
    """Record what the memory cells of ``model`` do, or its hops, while the block runs."""
    cells = {name: module for name, module in model.named_modules() if hasattr(module, "memory")}
    trace = Trace(cells, set(model.modules()))
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
