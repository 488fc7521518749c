"""Several memories under one controller (thesis §4.4: the decoder of a dual memory reads each of them).

Letters: ``B`` batch, ``Q`` numbers read from all of them.

Each memory has a part of the interface vector to itself, and what is read from all goes to the controller side by side.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.memory.base import Advance, Memory


class Joined(tuple[Any, ...]):
    """What each memory has: its interface, or its state."""

    def __new__(cls, *each: Any) -> "Joined":
        """One argument for each memory, as a NamedTuple takes its fields."""
        return super().__new__(cls, each)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    @property
    def reads(self) -> Float[Tensor, "B 1 Q"]:
        """Of states: what was read from all."""
        return torch.cat([state.reads.flatten(1) for state in self], dim=1).unsqueeze(1)


class JoinedMemory(Memory[Joined, Joined]):
    """Memories side by side; each may be of its own kind and size.

    Args:
        memories: at least one.
    """

    def __init__(self, memories: Sequence[Memory[Any, Any]]) -> None:
        super().__init__()
        if not memories:
            raise UserError("JoinedMemory needs at least one memory: write JoinedMemory([DNCMemory(16, 32)])")
        self.memories = nn.ModuleList(memories)
        self.slots = sum(memory.slots for memory in memories)
        self.reads, self.word = 1, sum(memory.read_size for memory in memories)
        self.recipe = memories[0].recipe

    @property
    def parts(self) -> Sequence[Memory[Any, Any]]:
        """Those of all."""
        return [part for memory in self._each for part in memory.parts]

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """The heads of the first, then those of the next."""
        return tuple(size for memory in self._each for size in memory.head_sizes)

    def reset_parameters(self) -> None:
        """Each draws anew."""
        for memory in self._each:
            memory.reset_parameters()

    def init_state(self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None) -> Joined:
        """Each before its first step."""
        return Joined(*(memory.init_state(batch, device=device, dtype=dtype) for memory in self._each))

    def parse(self, vector: Float[Tensor, "B interface"]) -> Joined:
        """Each cuts its part."""
        return Joined(*(memory.parse(part) for memory, part in zip(self._each, self._split(vector), strict=True)))

    def forward(self, interface: Joined, state: Joined, write: bool = True) -> Joined:
        """Each takes a step."""
        steps = zip(self._each, interface, state, strict=True)
        return Joined(*(memory(own, before, write) for memory, own, before in steps))

    def step(self, vector: Float[Tensor, "B interface"], state: Joined, write: bool, advance: Advance) -> Joined:
        """Each takes a step, on whatever engine."""
        steps = zip(self._each, self._split(vector), state, strict=True)
        return Joined(*(memory.step(own, before, write, advance) for memory, own, before in steps))

    def extra_repr(self) -> str:
        """Its memories print themselves."""
        return ""

    @property
    def _each(self) -> list[Memory[Any, Any]]:
        return cast(list[Memory[Any, Any]], list(self.memories))

    def _split(self, vector: Float[Tensor, "B interface"]) -> tuple[Tensor, ...]:
        return vector.split_with_sizes([memory.interface_size for memory in self._each], dim=1)
