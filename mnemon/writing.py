"""Writing policies: when the memory is written (thesis ch. 6; write-protected decoding, §4.3).

A policy is asked at every step. It may keep a state of its own, such as a count of steps, which travels in the cell's
state like everything else about a sequence.
"""

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

from torch import nn


class NoState(NamedTuple):
    """The state of a policy that remembers nothing."""


State = TypeVar("State")


class Writing(nn.Module, ABC, Generic[State]):
    """Decides at each step whether the memory may be written."""

    @abstractmethod
    def init_state(self, batch: int) -> State:
        """The state before the first step."""

    @abstractmethod
    def forward(self, state: State) -> tuple[bool, State]:
        """Whether this step writes, and the policy's next state."""


class RegularWriting(Writing[NoState]):
    """Write at every step."""

    def init_state(self, batch: int) -> NoState:  # noqa: ARG002 (nothing to size)
        """Nothing to remember."""
        return NoState()

    def forward(self, state: NoState) -> tuple[bool, NoState]:
        """Always."""
        return True, state


class WriteProtected(Writing[NoState]):
    """Never write: the memory is read only, as in the decoders of chapter 4."""

    def init_state(self, batch: int) -> NoState:  # noqa: ARG002 (nothing to size)
        """Nothing to remember."""
        return NoState()

    def forward(self, state: NoState) -> tuple[bool, NoState]:
        """Never."""
        return False, state
