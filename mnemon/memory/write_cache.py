"""A cache between the controller and a DNC's memory (thesis §4.4, "Memories modification with cache components").

Letters: ``B`` batch, ``W`` word.

What the controller wants written is mixed into the cache, and the cache is what is written:

    c_t = g^c_t ∘ c_{t−1} + (1 − g^c_t) ∘ v_t,      M_t = M_{t−1} ∘ (E − w_t e_tᵀ) + w_t c_tᵀ

so that a value that is not written now, its write gate being closed, can still be written later. The cache gate is one
number for each of the word, from the controller's output like the rest of the interface; the cache begins empty.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.memory.base import Advance, Memory, advance_in_torch
from mnemon.memory.dnc import DNCInterface, DNCMemory, DNCState


class CachedInterface(NamedTuple):
    """The interface of the memory, and the gate of the cache."""

    memory: DNCInterface
    cache_gate: Float[Tensor, "B W"]  # g^c_t


class CachedState(NamedTuple):
    """The state of the memory, and the cache."""

    memory: DNCState
    cache: Float[Tensor, "B W"]  # c_t

    @property
    def reads(self) -> Float[Tensor, "B R W"]:
        """What was last read."""
        return self.memory.reads


class WriteCache(Memory[CachedInterface, CachedState]):
    """A DNC's memory behind a cache.

    Args:
        memory: where the cache is written.
    """

    def __init__(self, memory: DNCMemory) -> None:
        super().__init__()
        self.memory = memory
        self.slots, self.word, self.reads = memory.slots, memory.word, memory.reads
        self.recipe = memory.recipe

    @property
    def parts(self) -> Sequence[Memory[Any, Any]]:
        """The memory."""
        return self.memory.parts

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """Those of the memory, the write head with the cache gate at its end."""
        *others, write = self.memory.head_sizes
        return (*others, write + self.word)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> CachedState:
        """The cache is empty."""
        empty = torch.zeros(batch, self.word, device=device, dtype=dtype)
        return CachedState(self.memory.init_state(batch, device=device, dtype=dtype), empty)

    def parse(self, vector: Float[Tensor, "B interface"]) -> CachedInterface:
        """The vector of the memory, then the gate."""
        own, gate = self._split(vector)
        return CachedInterface(self.memory.parse(own), torch.sigmoid(gate))

    def forward(self, interface: CachedInterface, state: CachedState, write: bool = True) -> CachedState:
        """One step; without writing, the cache stays as it is."""
        if not write:
            return state._replace(memory=self.memory(interface.memory, state.memory, False))
        cache = torch.lerp(interface.memory.write_vector, state.cache, interface.cache_gate)
        return CachedState(self.memory(interface.memory._replace(write_vector=cache), state.memory, True), cache)

    def step(
        self, vector: Float[Tensor, "B interface"], state: CachedState, write: bool, advance: Advance
    ) -> CachedState:
        """One step, on whatever engine: what is to be written is replaced in the memory's vector."""
        if advance is advance_in_torch:
            return self(self.parse(vector), state, write)  # type: ignore[no-any-return]
        own, gate = self._split(vector)
        if not write:
            return state._replace(memory=self.memory.step(own, state.memory, False, advance))
        places, clip = self.memory.write_vector_places, self.memory.clip
        wanted = own[:, places] if clip is None else own[:, places].clamp(-clip, clip)
        cache = torch.lerp(wanted, state.cache, torch.sigmoid(gate))
        replaced = torch.cat([own[:, : places.start], cache, own[:, places.stop :]], dim=1)
        return CachedState(self.memory.step(replaced, state.memory, True, advance), cache)

    def extra_repr(self) -> str:
        """Its memory prints itself."""
        return ""

    def _split(self, vector: Float[Tensor, "B interface"]) -> tuple[Tensor, Tensor]:
        own, gate = vector.split_with_sizes([self.memory.interface_size, self.word], dim=1)
        return own, gate
