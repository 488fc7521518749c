"""What a memory is to a cell: it cuts its interface from one vector, and steps from state to state.

Letters: ``B`` batch, ``R`` read heads, ``W`` word.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.initialisation import Recipe

Interface = TypeVar("Interface")
State = TypeVar("State")  # a NamedTuple of tensors with at least `reads`, what was last read (B R W)
Advance = Callable[["Memory[Any, Any]", Tensor, Any, bool], Any]  # memory, interface vector, state, write → next state


class Memory(nn.Module, ABC, Generic[Interface, State]):
    """A slot memory. Most have no weights of their own: the interface network steers them, so cells can share one."""

    slots: int
    word: int
    reads: int
    recipe: Recipe

    def reset_parameters(self) -> None:
        """Draw anew what is random about the memory; most have nothing."""

    @property
    def read_size(self) -> int:
        """Numbers read at a step, R·W: what the controller receives beside its input."""
        return self.reads * self.word

    @property
    def interface_size(self) -> int:
        """Length of the interface vector."""
        return sum(self.head_sizes)

    @property
    def head_counts(self) -> tuple[int, ...]:
        """How many heads there are of each kind: readers and, where they are counted apart, writers."""
        return (self.reads,)

    @property
    @abstractmethod
    def head_sizes(self) -> tuple[int, ...]:
        """How the interface vector falls into heads: each gets its own initialisation, or its own programs."""

    @abstractmethod
    def init_state(self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None) -> State:
        """The state before the first step."""

    @abstractmethod
    def parse(self, vector: Float[Tensor, "B interface"]) -> Interface:
        """Cut the vector into its named parts and bring each into its range."""

    @abstractmethod
    def forward(self, interface: Interface, state: State, write: bool = True) -> State:
        """One step. With ``write=False`` the memory is read only: its content stays as it is."""

    @property
    def parts(self) -> "Sequence[Memory[Any, Any]]":
        """The memories that it is made of: most are one."""
        return [self]

    def step(self, vector: Float[Tensor, "B interface"], state: State, write: bool, advance: Advance) -> State:
        """One step, steered by an interface vector; ``advance`` takes it, or those of the memories it is made of."""
        return advance(self, vector, state, write)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """The sizes, as torch.nn prints them."""
        return f"slots={self.slots}, word={self.word}, reads={self.reads}"


def advance_in_torch(memory: Memory[Any, Any], vector: Float[Tensor, "B interface"], state: Any, write: bool) -> Any:
    """One step of a memory, steered by an interface vector."""
    return memory(memory.parse(vector), state, write)


def check_sizes(**sizes: int) -> None:
    """Refuse sizes below one, by name."""
    for name, size in sizes.items():
        if size < 1:
            raise UserError(f"{name} must be at least 1, got {size}")
