"""Encoders of one or several views, each with a controller and a memory of its own (thesis §4.3, §4.4).

Letters: ``V`` views, ``T`` steps of a view, ``B`` batch, ``E`` embedding, ``F`` features.

A view is a sequence of tokens; views may differ in length, and what one says at a step need not match the other. With
late fusion each is encoded by itself. With early fusion their memories are one address space [M_1; M_2; …]: the views
take turns, each writes its own slots and reads those of all, the read function is one for all, and a cache lets one
wait for another (:mod:`mnemon.memory.write_cache`).

Each view's memory has links of its own, "equipped with temporal linkage" as it is, so that a decoder can follow what
one view wrote; its precedence is therefore not another's.

Deviations: with early fusion usage is that of the joint space; the text leaves it open.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon import trace
from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.memory import DNCMemory, WriteCache
from mnemon.memory.base import Advance, advance_in_torch
from mnemon.memory.dnc import DNCState
from mnemon.memory.write_cache import CachedState
from mnemon.native import engine as native
from mnemon.native import turns
from mnemon.rnn import MANN, Engine, EngineUsed, choose_engine

Views = Sequence[Int[Tensor, "_ B"]]  # of different lengths
Lengths = Sequence[Int[Tensor, "B"] | None]


class Encoded(NamedTuple):
    """What encoders leave to a decoder, one entry for each view."""

    controllers: tuple[Any, ...]  # their last states
    memories: tuple[Any, ...]
    outputs: tuple[Float[Tensor, "_ B _"], ...]  # of the controllers at every step
    lengths: tuple[Int[Tensor, "B"] | None, ...]

    @property
    def batch(self) -> int:
        """B."""
        return int(self.controllers[0].hidden.shape[0])


class ViewEncoder(nn.Module):
    """The embedding of a view and the cell that reads it.

    Args:
        tokens: how many kinds of tokens there are.
        cell: its input is an embedded token.
    """

    def __init__(self, tokens: int, cell: MemoryCell) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, cell.input_size)
        self.rnn = MANN(cell)

    def embed(self, tokens: Int[Tensor, "T B"]) -> Float[Tensor, "T B E"]:
        """Each token as a vector."""
        return cast(Tensor, self.embedding(tokens))

    @property
    def cell(self) -> MemoryCell:
        """One step."""
        return self.rnn.cell


class LateFusion(nn.Module):
    """Views that meet in the decoder.

    Args:
        views: an encoder for each.
    """

    def __init__(self, views: Sequence[ViewEncoder]) -> None:
        super().__init__()
        self.views = nn.ModuleList(views)

    def forward(self, views: Views, lengths: Lengths, memories: Sequence[Any] | None = None) -> Encoded:
        """Encode all views, from memories that were left before or from empty ones."""
        controllers, left, outputs = [], [], []
        for number, view in enumerate(self._each):
            state = view.cell.init_state(views[number].shape[1])
            if memories is not None:
                state = state._replace(memory=memories[number])
            features, state = view.rnn(view.embed(views[number]), state, lengths=lengths[number])
            controllers.append(state.controller)
            left.append(state.memory)
            outputs.append(features[..., : view.cell.controller.hidden_size])
        return Encoded(tuple(controllers), tuple(left), tuple(outputs), tuple(lengths))

    @property
    def _each(self) -> list[ViewEncoder]:
        return cast(list[ViewEncoder], list(self.views))


class EarlyFusion(nn.Module):
    """Views whose memories are one address space.

    Args:
        views: an encoder for each, its memory a WriteCache over a DNCMemory of all slots that owns a part of them.
    """

    engine: Engine = "auto"
    engine_used: EngineUsed | None = None  # which one ran last, and why

    def __init__(self, views: Sequence[ViewEncoder]) -> None:
        super().__init__()
        self.views = nn.ModuleList(views)
        end = 0
        for memory in self._memories:
            if memory.own is None or memory.own[0] != end:
                raise UserError("the views must own all slots of their memory, one part after the other")
            end = memory.own[1]
        if any(memory.slots != end for memory in self._memories):
            raise UserError(f"the views own {end} slots: write as many for each memory")

    def forward(self, views: Views, lengths: Lengths, memories: Sequence[Any] | None = None) -> Encoded:
        """Encode all views in turns, from memories that were left before or from empty ones."""
        batch = views[0].shape[1]
        embedded = [view.embed(tokens) for view, tokens in zip(self._each, views, strict=True)]
        states = [view.cell.init_state(batch) for view in self._each]
        if memories is not None:
            states = [state._replace(memory=memory) for state, memory in zip(states, memories, strict=True)]
        cells = [view.cell for view in self._each]
        self.engine_used = choose_engine(
            self.engine, lambda: turns.why_not(cells, embedded[0]), lambda: turns.why_no_step(cells, embedded[0])
        )
        if self.engine_used.name == "native" and not trace.is_recording():
            features, states = turns.run(cells, embedded, states, lengths)
        else:
            advance = advance_in_torch if self.engine_used.name == "reference" else native.advance
            features, states = _step_by_step(cells, embedded, states, lengths, advance)
        return Encoded(
            tuple(state.controller for state in states),
            tuple(state.memory for state in states),
            tuple(each[..., : cell.controller.hidden_size] for cell, each in zip(cells, features, strict=True)),
            tuple(lengths),
        )

    def own_parts(self, encoded: Encoded) -> Encoded:
        """Each view's memory by itself, as the decoder reads it."""
        memories = zip(encoded.memories, self._memories, strict=True)
        return encoded._replace(memories=tuple(_part(state.memory, memory.own) for state, memory in memories))

    @property
    def _each(self) -> list[ViewEncoder]:
        return cast(list[ViewEncoder], list(self.views))

    @property
    def _memories(self) -> list[DNCMemory]:
        caches = [view.cell.memory for view in self._each]
        if not all(isinstance(cache, WriteCache) for cache in caches):
            raise UserError("early fusion needs a WriteCache over a DNCMemory for each view")
        return [cast(WriteCache, cache).memory for cache in caches]


def _step_by_step(
    cells: Sequence[MemoryCell],
    inputs: Sequence[Float[Tensor, "_ B E"]],
    states: list[CellState],
    lengths: Lengths,
    advance: Advance,
) -> tuple[list[Float[Tensor, "_ B F"]], list[CellState]]:
    """The features of every view, zero past the end of a row, and the final states."""
    features = [[own.new_zeros(0, own.shape[1], cell.feature_size)] for cell, own in zip(cells, inputs, strict=True)]
    states, last = list(states), states[0].memory.memory
    for step in range(max(len(own) for own in inputs)):
        for number, (cell, own, length) in enumerate(zip(cells, inputs, lengths, strict=True)):
            if step >= len(own):
                continue
            active = None if length is None else step < length.to(own.device)
            seen, state = cell.step(own[step], _taking(states[number], last), active, advance)
            states[number], last = state, state.memory.memory
            features[number].append((seen if active is None else seen * active.unsqueeze(1)).unsqueeze(0))
    return [torch.cat(each) for each in features], [_taking(state, last) for state in states]


def _taking(state: CellState, last: DNCState) -> CellState:
    """The state of a view with the memory as another view left it; what it reads and what it wrote last are its own."""
    cached: CachedState = state.memory
    own = cached.memory
    memory = last._replace(precedence=own.precedence, read_weights=own.read_weights, reads=own.reads)
    return state._replace(memory=cached._replace(memory=memory))


def _part(state: DNCState, own: tuple[int, int] | None) -> DNCState:
    assert own is not None
    slots = slice(*own)
    return DNCState(
        memory=state.memory[:, slots],
        usage=state.usage[:, slots],
        links=state.links[:, slots, slots],
        precedence=state.precedence[:, slots],
        read_weights=state.read_weights[:, :, slots],
        write_weights=state.write_weights[:, slots],
        reads=state.reads,
    )
