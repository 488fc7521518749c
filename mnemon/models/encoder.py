"""Encoders of one or several views, each with a controller and a memory of its own (thesis §4.3, §4.4).

Letters: ``V`` views, ``T`` steps of a view, ``B`` batch, ``E`` embedding, ``H`` hidden, ``N`` slots.

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

from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.memory import DNCMemory, WriteCache
from mnemon.memory.dnc import DNCState
from mnemon.memory.write_cache import CachedState
from mnemon.native import engine as native
from mnemon.rnn import MANN, Engine

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
        outputs: list[list[Tensor]] = [[] for _ in states]
        last = states[0].memory.memory
        for step in range(max(len(tokens) for tokens in views)):
            for number, view in enumerate(self._each):
                if step >= len(views[number]):
                    continue
                state = _taking(states[number], last)
                features, state = self._step(view, embedded[number][step], state, step, lengths[number])
                states[number], last = state, state.memory.memory
                outputs[number].append(features[:, : view.cell.controller.hidden_size])
        states = [_taking(state, last) for state in states]
        return Encoded(
            tuple(state.controller for state in states),
            tuple(state.memory for state in states),
            tuple(_stack(each, view, batch) for each, view in zip(outputs, self._each, strict=True)),
            tuple(lengths),
        )

    def own_parts(self, encoded: Encoded) -> Encoded:
        """Each view's memory by itself, as the decoder reads it."""
        memories = zip(encoded.memories, self._memories, strict=True)
        return encoded._replace(memories=tuple(_part(state.memory, memory.own) for state, memory in memories))

    def _step(
        self,
        view: ViewEncoder,
        inputs: Float[Tensor, "B E"],
        state: CellState,
        step: int,
        lengths: Int[Tensor, "B"] | None,
    ) -> tuple[Tensor, CellState]:
        active = None if lengths is None else step < lengths.to(inputs.device)
        advance = native.advance_for(view.cell, inputs, self.engine)
        return view.cell.step(inputs, state, active, advance)

    @property
    def _each(self) -> list[ViewEncoder]:
        return cast(list[ViewEncoder], list(self.views))

    @property
    def _memories(self) -> list[DNCMemory]:
        caches = [view.cell.memory for view in self._each]
        if not all(isinstance(cache, WriteCache) for cache in caches):
            raise UserError("early fusion needs a WriteCache over a DNCMemory for each view")
        return [cast(WriteCache, cache).memory for cache in caches]


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


def _stack(outputs: list[Tensor], view: ViewEncoder, batch: int) -> Tensor:
    if outputs:
        return torch.stack(outputs)
    return view.cell.controller.weight_ih.new_zeros(0, batch, view.cell.controller.hidden_size)
