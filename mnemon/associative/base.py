"""What all associative memories of chapter 2 have in common (thesis §2.2.3): ⊗, ⊕ and •.

Letters: ``Q pairs, P probes, K size of a key, V size of a value``; before them any batch of memories.

    ⊗ : X × Y → M      encode   a key and a value become a trace
    ⊕ : M × M → M      compose  two traces become one
    • : X × M → Y      decode   a key and a trace give back a value, more or less

A trace is one tensor, whose shape is the memory's own affair. ``store`` does ⊗ and ⊕ for many pairs at once.
"""

from functools import reduce
from typing import Protocol, runtime_checkable

from jaxtyping import Num
from torch import Tensor

from mnemon.errors import UserError


@runtime_checkable
class AssociativeMemory(Protocol):
    """Three operators over traces; nothing of what was stored lives in the object."""

    def encode(self, key: Num[Tensor, "*batch K"], value: Num[Tensor, "*batch V"]) -> Tensor:
        """⊗: the trace of one pair."""
        ...

    def compose(self, first: Tensor, second: Tensor) -> Tensor:
        """⊕: the trace of both; where the order matters, ``first`` is the older."""
        ...

    def store(self, keys: Num[Tensor, "*batch Q K"], values: Num[Tensor, "*batch Q V"]) -> Tensor:
        """The trace of all pairs, as :func:`compose_all` would make it, but in one go."""
        ...

    def decode(self, keys: Num[Tensor, "*batch P K"], trace: Tensor) -> Num[Tensor, "*batch P V"]:
        """•: a value for each key."""
        ...


def compose_all(
    memory: AssociativeMemory, keys: Num[Tensor, "*batch Q K"], values: Num[Tensor, "*batch Q V"]
) -> Tensor:
    """The trace of all pairs, one after the other: what ``store`` means."""
    if keys.shape[-2] == 0:
        raise UserError("there is nothing to compose: give at least one pair")
    traces = [memory.encode(key, value) for key, value in zip(keys.unbind(dim=-2), values.unbind(dim=-2), strict=True)]
    return reduce(memory.compose, traces)
