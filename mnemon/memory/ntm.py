"""Neural Turing Machine (thesis §3.3.3; Graves, Wayne & Danihelka, 2014).

Letters: ``B`` batch, ``R`` read heads, ``V`` write heads, ``N`` slots, ``W`` word, ``S`` shifts.

A head finds its weighting in four steps: by content, interpolated with where it was, shifted along the slots,
sharpened. A write head then erases and adds; a read head returns the weighted sum of the slots.

Deviations from the thesis: the interpolation is with w_{t−1} (printed: w_t) and the shift convolves w^g(j) (printed:
w^g(i)). Reads follow the write by default, looking up M_t; ``read_first=True`` reads M_{t−1}, as the author's released
code does. Write heads act together: all look up M_{t−1}, all erase, then all add.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import NTMRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes


class Address(NamedTuple):
    """What moves a group of heads (``H`` of them)."""

    keys: Float[Tensor, "B H W"]  # k_t
    strengths: Float[Tensor, "B H"]  # β_t > 0
    gates: Float[Tensor, "B H"]  # g_t: 1 looks up by content, 0 stays
    shifts: Float[Tensor, "B H S"]  # s_t, a distribution over moves
    sharpness: Float[Tensor, "B H"]  # γ_t ≥ 1


class NTMInterface(NamedTuple):
    """The parts of an NTM's interface vector."""

    read: Address
    write: Address
    erase: Float[Tensor, "B V W"]  # e_t
    add: Float[Tensor, "B V W"]  # v_t


class NTMState(NamedTuple):
    """What an NTM's memory carries from step to step."""

    memory: Float[Tensor, "B N W"]  # M_t
    read_weights: Float[Tensor, "B R N"]  # w^r_t
    write_weights: Float[Tensor, "B V N"]  # w^w_t
    reads: Float[Tensor, "B R W"]  # r_t


class NTMMemory(Memory[NTMInterface, NTMState]):
    """A memory with content and location addressing.

    Args:
        slots: N, the number of slots.
        word: W, the size of a slot.
        reads: the number of read heads.
        writes: the number of write heads.
        shift_reach: how far a head may move in a step; the shifts are −reach … reach.
        read_first: read the memory before it is written rather than after.
        learned_start: learn where the heads are before the first step, and what they have read; otherwise they are
            nowhere, and have read a fixed vector.
        device: where the initial memory lives.
        dtype: its floating point type.
    """

    initial_memory: Tensor
    initial_reads: Tensor
    initial_weights: Tensor  # before softmax; of a learned start only

    def __init__(
        self,
        slots: int,
        word: int,
        reads: int = 1,
        writes: int = 1,
        *,
        shift_reach: int = 1,
        read_first: bool = False,
        learned_start: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads, writes=writes)
        if shift_reach < 0:
            raise UserError(f"shift_reach must be 0 or more, got {shift_reach}")
        self.slots, self.word, self.reads, self.writes = slots, word, reads, writes
        self.shift_reach, self.read_first, self.learned_start = shift_reach, read_first, learned_start
        self.recipe = NTMRecipe()
        self.register_buffer("initial_memory", torch.empty(slots, word, device=device, dtype=dtype))
        initial_reads = torch.empty(reads, word, device=device, dtype=dtype)
        if learned_start:
            self.initial_reads = nn.Parameter(initial_reads)  # before tanh
            self.initial_weights = nn.Parameter(torch.empty(reads + writes, slots, device=device, dtype=dtype))
        else:
            self.register_buffer("initial_reads", initial_reads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the fixed initial memory, U(±1/√(N+W)), and the initial read vectors, 0.01·N(0, 1).

        A learned start is Glorot and Bengio's, as a layer that is given a one: U(±√(6/(1 + numbers))).
        """
        bound = 1 / math.sqrt(self.slots + self.word)
        nn.init.uniform_(self.initial_memory, -bound, bound)
        if not self.learned_start:
            nn.init.normal_(self.initial_reads, std=0.01)
            return
        for start in (self.initial_reads, self.initial_weights):
            bound = math.sqrt(6 / (1 + start.shape[1]))
            nn.init.uniform_(start, -bound, bound)

    @property
    def head_counts(self) -> tuple[int, ...]:
        """Read heads and write heads."""
        return (self.reads, self.writes)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """Each read head is addressed; each write head is addressed and has an erase and an add vector."""
        address = self.word + 3 + self._shifts
        return (address,) * self.reads + (address + 2 * self.word,) * self.writes

    @property
    def _shifts(self) -> int:
        return 2 * self.shift_reach + 1

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> NTMState:
        """The fixed initial memory and reads, and no head anywhere yet (w_0 = 0); or what was learned of them."""
        memory = self.initial_memory.to(device=device, dtype=dtype)
        reads = self.initial_reads.to(device=device, dtype=dtype)
        weights = memory.new_zeros(self.reads + self.writes, self.slots)
        if self.learned_start:
            reads = torch.tanh(reads)
            weights = torch.softmax(self.initial_weights.to(device=device, dtype=dtype), dim=1)
        read_weights, write_weights = weights.expand(batch, -1, -1).split_with_sizes([self.reads, self.writes], dim=1)
        return NTMState(
            memory=memory.expand(batch, -1, -1),
            read_weights=read_weights,
            write_weights=write_weights,
            reads=reads.expand(batch, -1, -1),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> NTMInterface:
        """Head by head, read heads first: [k, β, g, s, γ], and for write heads [e, v] after it."""
        batch = vector.shape[0]
        reading, writing = vector.split_with_sizes(
            [sum(self.head_sizes[: self.reads]), sum(self.head_sizes[self.reads :])], dim=1
        )
        write_head = writing.view(batch, self.writes, self.head_sizes[-1])
        addressed, erase, add = write_head.split_with_sizes([self.head_sizes[0], self.word, self.word], dim=2)
        return NTMInterface(
            read=self._parse_address(reading.view(batch, self.reads, self.head_sizes[0])),
            write=self._parse_address(addressed),
            erase=torch.sigmoid(erase),
            add=add,
        )

    def _parse_address(self, heads: Float[Tensor, "B H address"]) -> Address:
        keys, strengths, gates, shifts, sharpness = heads.split_with_sizes([self.word, 1, 1, self._shifts, 1], dim=2)
        return Address(
            keys=keys,
            strengths=F.softplus(strengths).squeeze(2),
            gates=torch.sigmoid(gates).squeeze(2),
            shifts=torch.softmax(shifts, dim=2),
            sharpness=1 + F.softplus(sharpness).squeeze(2),
        )

    def forward(self, interface: NTMInterface, state: NTMState, write: bool = True) -> NTMState:
        """Write, then read (or read, then write). Without writing the write heads stand still."""
        memory, write_weights = state.memory, state.write_weights
        if write:
            write_weights = _find(interface.write, state.memory, state.write_weights)
            memory = addressing.erase_and_add(state.memory, write_weights, interface.erase, interface.add)
        readable = state.memory if self.read_first else memory
        read_weights = _find(interface.read, readable, state.read_weights)
        return NTMState(memory, read_weights, write_weights, addressing.read(readable, read_weights))

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        return f"{super().extra_repr()}, writes={self.writes}, read_first={self.read_first}"


def _find(address: Address, memory: Float[Tensor, "B N W"], previous: Float[Tensor, "B H N"]) -> Float[Tensor, "B H N"]:
    """content → interpolation → shift → sharpening."""
    similarity = addressing.cosine_similarity(memory, address.keys)
    content = addressing.content_weights(similarity, address.strengths)  # w^c
    gated = addressing.interpolate(content, previous, address.gates)  # w^g
    shifted = addressing.circular_shift(gated, address.shifts)  # w̃
    return addressing.sharpen(shifted, address.sharpness)  # w
