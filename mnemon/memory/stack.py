"""Neural stack, queue and deque (thesis §3.3.1; Grefenstette et al., 2015): pushed and popped by degrees.

Letters: ``B`` batch, ``N`` slots, ``W`` word, ``E`` ends that are pushed or popped, ``F`` numbers of a row.

Each slot holds a row: a value V[i], which never changes, and how much of it is still there, its strength s[i]. The rows
are in order, the bottom first. A step pops, then pushes, then reads:

    s_t[i] = max(0, s_{t−1}[i] − max(0, u_t − Σ_{j>i} s_{t−1}[j]))     pop u_t from the top; s_t of the new row is d_t
    r_t    = Σ_i min(s_t[i], max(0, 1 − Σ_{j>i} s_t[j])) V_t[i]        read rows of strength one together, from the top

A queue pops and reads from the bottom: its sums are over j < i. A deque pops from the top, then from the bottom, pushes
at both and reads both. d_t = σ(·), u_t = σ(·), v_t = tanh(·).

Deviations:
    slots: the printed V has a row for every step. Here it has N, and a row without strength, which no equation sees,
        gives its place to a new one; so the numbers are the printed ones while no more than N rows have strength. A
        push beyond that loses the weakest row, be it the new one; of equally weak ones that farthest from the new one.
    output: the cell's read-out also sees r_t; the printed o_t sees r_{t−1} alone, through the controller.
    queue and deque: the thesis does not print their equations; they are those of Grefenstette et al.
"""

from enum import Enum
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, einsum
from torch.nn import functional as F

from mnemon.initialisation import StackRecipe
from mnemon.memory.base import Memory, check_sizes


class End(Enum):
    """An end of the line of rows."""

    TOP = "top"
    BOTTOM = "bottom"


def covering(strengths: Float[Tensor, "B N"], end: End) -> Float[Tensor, "B N"]:
    """What lies between each row and an end: Σ_{j>i} s[j] from the top, Σ_{j<i} s[j] from the bottom."""
    below = strengths.cumsum(1)
    return below[:, -1:] - below if end is End.TOP else below - strengths


def pop(strengths: Float[Tensor, "B N"], amount: Float[Tensor, "B"], end: End) -> Float[Tensor, "B N"]:
    """Take ``amount`` away, from row to row as far as it reaches."""
    reaching = F.relu(amount.unsqueeze(1) - covering(strengths, end))
    return F.relu(strengths - reaching)


def read_weights(strengths: Float[Tensor, "B N"], end: End) -> Float[Tensor, "B N"]:
    """How much of each row is read: rows from the end inwards, until they sum to one."""
    return torch.minimum(strengths, F.relu(1 - covering(strengths, end)))


class Room(NamedTuple):
    """Where a new row goes, and which rows make way for it, by how many slots."""

    here: Bool[Tensor, "B N"]
    moved: Bool[Tensor, "B N"]
    by: int


def make_room(strengths: Float[Tensor, "B N"], strength: Float[Tensor, "B 1"], end: End) -> Room:
    """The slot beyond all rows with strength; without one, the weakest row is lost, and those beyond it make way.

    Where the new row is weaker than all others, it has no room.
    """
    if end is End.BOTTOM:
        top = make_room(strengths.flip(1), strength, End.TOP)
        return Room(top.here.flip(1), top.moved.flip(1), -top.by)
    slots = strengths.shape[1]
    numbers = torch.arange(slots, device=strengths.device)
    height = ((strengths > 0) * (numbers + 1)).amax(1, keepdim=True)
    least, weakest = strengths.min(1, keepdim=True)  # the lowest of the weakest
    full, fits = height == slots, strength >= least
    return Room(fits & (numbers == height.clamp_max(slots - 1)), fits & full & (numbers >= weakest), -1)


def put(rows: Float[Tensor, "B N F"], row: Float[Tensor, "#B F"], room: Room) -> Float[Tensor, "B N F"]:
    """The rows with the new one among them."""
    moved = torch.where(room.moved.unsqueeze(2), rows.roll(room.by, dims=1), rows)
    return torch.where(room.here.unsqueeze(2), row.unsqueeze(1), moved)


class StackInterface(NamedTuple):
    """What an end of a line is told; the two ends of a queue share one."""

    values: Float[Tensor, "B E W"]  # v_t
    pushes: Float[Tensor, "B E"]  # d_t
    pops: Float[Tensor, "B E"]  # u_t


class StackState(NamedTuple):
    """What a line carries from step to step."""

    memory: Float[Tensor, "B N W"]  # V_t
    strengths: Float[Tensor, "B N"]  # s_t
    read_weights: Float[Tensor, "B E N"]
    write_weights: Float[Tensor, "B E N"]
    reads: Float[Tensor, "B E W"]  # r_t


class LineMemory(Memory[StackInterface, StackState]):
    """What stack, queue and deque share: all but the ends at which they push, and those at which they pop and read.

    Args:
        slots: N, how many rows can have strength at once.
        word: W, the size of a value.
    """

    pushed: ClassVar[tuple[End, ...]]
    popped: ClassVar[tuple[End, ...]]  # and read

    def __init__(self, slots: int, word: int) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word)
        self.slots, self.word, self.reads = slots, word, len(self.popped)
        self.recipe = StackRecipe()

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """Per end a value, a push and a pop."""
        return (self.word + 2,) * self.reads

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> StackState:
        """Nothing is there."""
        weights = torch.zeros(batch, self.reads, self.slots, device=device, dtype=dtype)
        return StackState(
            memory=weights.new_zeros(batch, self.slots, self.word),
            strengths=weights.new_zeros(batch, self.slots),
            read_weights=weights,
            write_weights=weights,
            reads=weights.new_zeros(batch, self.reads, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> StackInterface:
        """End by end: [v, d, u]."""
        heads = vector.view(vector.shape[0], self.reads, self.word + 2)
        values, pushes, pops = heads.split_with_sizes([self.word, 1, 1], dim=2)
        return StackInterface(
            values=torch.tanh(values),
            pushes=torch.sigmoid(pushes).squeeze(2),
            pops=torch.sigmoid(pops).squeeze(2),
        )

    def forward(self, interface: StackInterface, state: StackState, write: bool = True) -> StackState:
        """Pop, push, read; without writing, read."""
        memory, strengths = state.memory, state.strengths
        written: list[Tensor] = []  # each B N 1
        if write:
            for pops, end in zip(interface.pops.unbind(1), self.popped, strict=True):
                strengths = pop(strengths, pops, end)
            for number, end in enumerate(self.pushed):
                strength = interface.pushes[:, number : number + 1]
                room = make_room(strengths, strength, end)
                memory = put(memory, interface.values[:, number], room)
                strengths = put(strengths.unsqueeze(2), strength, room).squeeze(2)
                written = [put(others, others.new_zeros(1, 1), room) for others in written]
                written.append((room.here * strength).unsqueeze(2))
        weights = torch.stack([read_weights(strengths, end) for end in self.popped], dim=1)
        return StackState(
            memory=memory,
            strengths=strengths,
            read_weights=weights,
            write_weights=torch.cat(written, dim=2).transpose(1, 2) if write else torch.zeros_like(weights),
            reads=einsum("ben,bnw->bew", weights, memory),
        )


class StackMemory(LineMemory):
    """Last in, first out."""

    pushed = (End.TOP,)
    popped = (End.TOP,)


class QueueMemory(LineMemory):
    """First in, first out."""

    pushed = (End.TOP,)
    popped = (End.BOTTOM,)


class DequeMemory(LineMemory):
    """Both ends at once; reads the top, then the bottom."""

    pushed = (End.TOP, End.BOTTOM)
    popped = (End.TOP, End.BOTTOM)
