"""Writing policies: when the memory is accessed and written (thesis ch. 6; write-protected decoding, §4.3).

Letters: ``T`` steps, ``B`` batch, ``H`` hidden, ``Q`` numbers read, ``L`` cached states, ``K`` attention.

A policy says what each step does with the memory. It may keep a state of its own, such as a count of steps, which
travels in the cell's state like everything else about a sequence.

Deviations: D writes at K_i = round(i T/(D+1)) leave intervals that differ by at most one step; the printed
⌊T/(D+1)⌋ k gives D + 1 writes at T = 50, D = 4 and writes at every step at T = 19, D = 9 (``balanced=False``).
"""

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.memory.base import check_sizes


class Access(IntEnum):
    """What a step does with the memory; the numbers of Access in native/src/config.hpp."""

    HOLD = 0  # nothing: what was read last stays
    READ = 1
    WRITE = 2  # and read


class NoState(NamedTuple):
    """The state of a policy that remembers nothing."""


class Steps(NamedTuple):
    """How many steps each row has taken."""

    taken: Int[Tensor, "B"]


class Cache(NamedTuple):
    """How many steps each row has taken, and the controller's outputs before the last L of them."""

    taken: Int[Tensor, "B"]
    hidden: Float[Tensor, "B L H"]


State = TypeVar("State")


class Writing(nn.Module, ABC, Generic[State]):
    """Decides at each step whether the memory is written, only read, or left alone."""

    def connect(self, hidden_size: int, read_size: int, like: Tensor) -> None:
        """Called by the cell, with a tensor whose dtype and device parameters should have."""

    def reset_parameters(self) -> None:
        """Initialise what is learned."""

    @abstractmethod
    def init_state(self, batch: int, device: torch.device | None = None) -> State:
        """The state before the first step."""

    @abstractmethod
    def plan(self, state: State, steps: int) -> UInt8[Tensor, "T B"] | Access:
        """What the coming steps do, by row; or one Access if all do the same."""

    def recalls(self, state: State, steps: int) -> Bool[Tensor, "T B"] | None:  # noqa: ARG002 (most policies never do)
        """Before which of the coming steps :meth:`recall` changes the controller's output; None: before none."""
        return None

    def recall(self, state: State, hidden: Float[Tensor, "B H"], reads: Float[Tensor, "B Q"]) -> Float[Tensor, "B H"]:  # noqa: ARG002
        """What the controller goes on from in place of h_{t−1}."""
        return hidden

    @abstractmethod
    def advance(
        self,
        state: State,
        before: Float[Tensor, "B H"],
        outputs: Float[Tensor, "T B H"],
        steps: Int[Tensor, "B"] | None = None,
    ) -> State:
        """The state after T steps, from the controller's output before them and after each.

        Rows that took fewer say so in ``steps``.
        """


class Uncounted(Writing[NoState]):
    """A policy that does the same at every step."""

    access: Access

    def init_state(self, batch: int, device: torch.device | None = None) -> NoState:  # noqa: ARG002 (nothing to size)
        """Nothing to remember."""
        return NoState()

    def plan(self, state: NoState, steps: int) -> Access:  # noqa: ARG002 (always the same)
        """The same for all."""
        return self.access

    def advance(self, state: NoState, before: Tensor, outputs: Tensor, steps: Tensor | None = None) -> NoState:  # noqa: ARG002
        """Nothing changes."""
        return state


class RegularWriting(Uncounted):
    """Write at every step."""

    access = Access.WRITE


class WriteProtected(Uncounted):
    """Never write: the memory is read only, as in the decoders of chapter 4."""

    access = Access.READ


class Scheduled(Writing[State]):
    """Writes at the steps of a pattern.

    Args:
        pattern: whether each step writes.
        repeats: begin the pattern again after its end; otherwise every later step writes, as a decoder does.
        hold_reads: leave the memory alone at the other steps, which saves their time; otherwise they read.
    """

    pattern: Bool[Tensor, "period"]

    def __init__(self, pattern: Bool[Tensor, "period"], *, repeats: bool, hold_reads: bool = True) -> None:
        super().__init__()
        self.register_buffer("pattern", pattern)
        self.repeats = repeats
        self.hold_reads = hold_reads

    def writes(self, taken: Int[Tensor, "B"], steps: int) -> Bool[Tensor, "T B"]:
        """Whether each of the coming steps writes."""
        number = taken + torch.arange(steps, device=taken.device).unsqueeze(1)
        period = self.pattern.shape[0]
        if self.repeats:
            return self.pattern[number % period]
        return self.pattern[number.clamp_max(period - 1)] | (number >= period)

    def access(self, taken: Int[Tensor, "B"], steps: int) -> UInt8[Tensor, "T B"]:
        """What each of the coming steps does."""
        otherwise = Access.HOLD if self.hold_reads else Access.READ
        return torch.where(self.writes(taken, steps), int(Access.WRITE), int(otherwise)).to(torch.uint8)


class _Counted(Scheduled[Steps]):
    """A schedule that remembers how far each row is."""

    def init_state(self, batch: int, device: torch.device | None = None) -> Steps:
        """No step taken."""
        return Steps(torch.zeros(batch, dtype=torch.int64, device=device))

    def plan(self, state: Steps, steps: int) -> UInt8[Tensor, "T B"]:
        """The next part of the pattern."""
        return self.access(state.taken, steps)

    def advance(self, state: Steps, before: Tensor, outputs: Tensor, steps: Tensor | None = None) -> Steps:  # noqa: ARG002
        """Count."""
        return Steps(state.taken + (outputs.shape[0] if steps is None else steps))


class UniformWriting(_Counted):
    """Write at equal intervals (thesis §6.3.1), which keeps most of a sequence when its steps matter alike.

    Args:
        interval: steps from write to write. In its place, ``slots`` and ``length`` give intervals of length/(slots+1).
        slots: D, how many writes the sequence is to have.
        length: T, the steps of the encoded sequence; every later step writes. Without it the schedule has no end.
        balanced: write at round(i T/(D+1)); otherwise at multiples of ⌊T/(D+1)⌋, as printed.
        hold_reads: leave the memory alone between writes; otherwise it is read at every step.
    """

    def __init__(
        self,
        interval: int | None = None,
        *,
        slots: int | None = None,
        length: int | None = None,
        balanced: bool = True,
        hold_reads: bool = True,
    ) -> None:
        pattern = uniform_pattern(interval, slots, length, balanced)
        super().__init__(pattern, repeats=length is None, hold_reads=hold_reads)


class RandomWriting(_Counted):
    """Write at random steps, each with probability (D+1)/T, drawn once (thesis §6.4.2): a baseline.

    Args:
        slots: D.
        length: T, the steps that are drawn; every later step writes.
        repeats: begin again with the first of them instead, without an end.
        seed: which steps; by default drawn from torch's global random numbers, as weights are.
        hold_reads: leave the memory alone between writes; otherwise it is read at every step.
    """

    def __init__(
        self, slots: int, length: int, *, repeats: bool = False, seed: int | None = None, hold_reads: bool = True
    ) -> None:
        check_sizes(slots=slots, length=length)
        generator = None if seed is None else torch.Generator().manual_seed(seed)
        pattern = torch.rand(length, generator=generator) < (slots + 1) / length
        super().__init__(pattern, repeats=repeats, hold_reads=hold_reads)


class CachedUniformWriting(Scheduled[Cache]):
    """Write every L steps, from the outputs of the last L steps rather than from the last one alone (thesis §6.3.2–3).

    At a write, h_{t−1} is replaced by a_t = Σ_j α_j d_j, d_j the controller's last L outputs, and
    α = softmax_j(vᵀ tanh(W h_{t−1} + U d_j + V r_{t−1})). An LSTM keeps its own cell.

    Args:
        interval: L.
        length: T, the steps of the encoded sequence; every later step writes and recalls nothing.
        attention_size: K, the rows of W, U and V.
        hold_reads: leave the memory alone between writes; otherwise it is read at every step.
    """

    query: nn.Parameter  # [W, V], K × (H + Q)
    key: nn.Parameter  # U, K × H
    score: nn.Parameter  # v, K

    def __init__(
        self, interval: int, *, length: int | None = None, attention_size: int = 16, hold_reads: bool = True
    ) -> None:
        check_sizes(attention_size=attention_size)
        super().__init__(uniform_pattern(interval, None, length, True), repeats=length is None, hold_reads=hold_reads)
        self.interval = interval
        self.attention_size = attention_size

    def connect(self, hidden_size: int, read_size: int, like: Tensor) -> None:
        """Make the attention."""
        if hasattr(self, "query"):
            raise UserError("this CachedUniformWriting belongs to another cell: make a new one")
        self.query = nn.Parameter(like.new_empty(self.attention_size, hidden_size + read_size))
        self.key = nn.Parameter(like.new_empty(self.attention_size, hidden_size))
        self.score = nn.Parameter(like.new_empty(self.attention_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """N(0, 0.1²), as in the authors' program."""
        for weight in (self.query, self.key, self.score):
            nn.init.normal_(weight, std=0.1)

    def init_state(self, batch: int, device: torch.device | None = None) -> Cache:
        """Nothing cached yet."""
        taken = torch.zeros(batch, dtype=torch.int64, device=device)
        return Cache(taken, self.key.new_zeros(batch, self.interval, self.key.shape[1]))

    def plan(self, state: Cache, steps: int) -> UInt8[Tensor, "T B"]:
        """The next part of the pattern."""
        return self.access(state.taken, steps)

    def recalls(self, state: Cache, steps: int) -> Bool[Tensor, "T B"]:
        """At the writes of the encoded sequence."""
        writes = self.writes(state.taken, steps)
        if self.repeats:
            return writes
        number = state.taken + torch.arange(steps, device=state.taken.device).unsqueeze(1)
        return writes & (number < self.pattern.shape[0])

    def recall(self, state: Cache, hidden: Float[Tensor, "B H"], reads: Float[Tensor, "B Q"]) -> Float[Tensor, "B H"]:
        """a_t for the rows that write, with h_{t−1} among the cached."""
        cached = torch.cat([state.hidden[:, 1:], hidden.unsqueeze(1)], dim=1)  # B L H
        query = torch.cat([hidden, reads], dim=1) @ self.query.T  # B K
        scores = torch.tanh(query.unsqueeze(1) + cached @ self.key.T) @ self.score  # B L
        chosen = torch.softmax(scores, dim=1).unsqueeze(1) @ cached  # B 1 H
        return torch.where(self.recalls(state, 1).T, chosen.squeeze(1), hidden)

    def advance(
        self,
        state: Cache,
        before: Float[Tensor, "B H"],
        outputs: Float[Tensor, "T B H"],
        steps: Tensor | None = None,
    ) -> Cache:
        """Count, and keep the last L outputs of each row before the newest."""
        length, batch, _ = outputs.shape
        known = torch.cat([state.hidden, before.unsqueeze(1), outputs.transpose(0, 1)], dim=1)[:, :-1]
        if steps is None:
            return Cache(state.taken + length, known[:, length:])
        index = steps.unsqueeze(1) + torch.arange(self.interval, device=steps.device)
        rows = torch.arange(batch, device=steps.device).unsqueeze(1)
        return Cache(state.taken + steps, known[rows, index])


def uniform_pattern(
    interval: int | None, slots: int | None, length: int | None, balanced: bool
) -> Bool[Tensor, "period"]:
    """Whether each step of a sequence, or of one interval where the sequence has no length, is a write."""
    if interval is None:
        if slots is None or length is None:
            raise UserError("uniform writing needs an interval, or slots and length: write interval=10")
        check_sizes(slots=slots, length=length)
        if balanced:
            # K_i, with halves going up: round() would send them to even numbers
            writes = [(2 * i * length + slots + 1) // (2 * (slots + 1)) for i in range(1, slots + 1)]
            pattern = torch.full((length,), slots >= length)  # more slots than steps: every step has one
            pattern[[step - 1 for step in writes if step]] = True
            return pattern
        interval = max(1, length // (slots + 1))
    elif slots is not None:
        raise UserError("uniform writing takes an interval or slots, not both: leave one out")
    check_sizes(interval=interval, length=1 if length is None else length)
    step = torch.arange(1, (interval if length is None else length) + 1)
    return step % interval == 0
