"""No memory: a cell with it is its controller alone, a plain recurrent network (thesis §3.1)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.initialisation import DNCRecipe
from mnemon.memory.base import Memory


class NoInterface(NamedTuple):
    """Nothing to steer."""


class NoMemoryState(NamedTuple):
    """Nothing but what is read, which has no numbers."""

    reads: Float[Tensor, "B 0 0"]


class NoMemory(Memory[NoInterface, NoMemoryState]):
    """For baselines that differ from a memory network in nothing but the memory."""

    slots, word, reads = 0, 0, 0
    recipe = DNCRecipe()

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """No heads."""
        return ()

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> NoMemoryState:
        """Nothing is read."""
        return NoMemoryState(torch.zeros(batch, 0, 0, device=device, dtype=dtype))

    def parse(self, vector: Float[Tensor, "B interface"]) -> NoInterface:  # noqa: ARG002 (it has no numbers)
        """Nothing to cut."""
        return NoInterface()

    def forward(self, interface: NoInterface, state: NoMemoryState, write: bool = True) -> NoMemoryState:  # noqa: ARG002
        """Nothing happens."""
        return state
