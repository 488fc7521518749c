"""Least recently used access (thesis §7.4.4, where it is used but not defined; Santoro et al., 2016).

Letters: ``B`` batch, ``R`` heads, ``N`` slots, ``W`` word.

Every head has one key, which it writes and looks up. It writes where it read last, or to the slots used least:
w^w_t = σ(α) w^r_{t−1} + (1 − σ(α)) w^{lu}_{t−1}, where w^{lu} marks the R least used slots. The least used slot is
zeroed before the write. Usage decays: w^u_t = γ w^u_{t−1} + w^r_t + w^w_t.

Deviations: the published softmax over cosines has no strength, which over 128 slots cannot focus (its largest weight is
5%); here each head has a strength β ≥ 1, and ``strengths=False`` gives the published form. Ties in usage go to first
slots, so that w^{lu} marks exactly R of them from the start.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import DNCRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes

_START = 1e-6  # r_0


class LRUAInterface(NamedTuple):
    """The parts of an LRUA interface vector."""

    keys: Float[Tensor, "B R W"]  # k_t: written and looked up
    write_gates: Float[Tensor, "B R"]  # σ(α_t): 1 writes where it read, 0 to the least used slots
    strengths: Float[Tensor, "B R"]  # β_t ≥ 1


class LRUAState(NamedTuple):
    """What an LRUA memory carries from step to step."""

    memory: Float[Tensor, "B N W"]  # M_t
    usage: Float[Tensor, "B N"]  # w^u_t
    read_weights: Float[Tensor, "B R N"]  # w^r_t
    write_weights: Float[Tensor, "B R N"]  # w^w_t
    reads: Float[Tensor, "B R W"]  # r_t


class LRUAMemory(Memory[LRUAInterface, LRUAState]):
    """A memory addressed by content alone that overwrites what it used least.

    Args:
        slots: N, the number of slots; at least as many as heads.
        word: W, the size of a slot.
        reads: R, the number of heads; each reads and writes.
        decay: γ, how slowly usage is forgotten.
        strengths: give each head a strength β (see Deviations).
        read_first: read the memory before it is written rather than after.
    """

    def __init__(
        self,
        slots: int,
        word: int,
        reads: int = 1,
        *,
        decay: float = 0.95,
        strengths: bool = True,
        read_first: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads)
        if reads > slots:
            raise UserError(f"reads must be at most slots ({slots}), got {reads}")
        if not 0 <= decay < 1:
            raise UserError(f"decay must be in [0, 1), got {decay}")
        self.slots, self.word, self.reads = slots, word, reads
        self.decay, self.strengths, self.read_first = decay, strengths, read_first
        self.recipe = DNCRecipe()

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """Per head a key, a gate and, where it has one, a strength."""
        return (self.word + 1 + int(self.strengths),) * self.reads

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> LRUAState:
        """M starts at 0.01, r at 1e-6; usage and weightings at 0."""
        zeros = torch.zeros(batch, self.reads, self.slots, device=device, dtype=dtype)
        return LRUAState(
            memory=zeros.new_full((batch, self.slots, self.word), addressing.UNWRITTEN),
            usage=zeros.new_zeros(batch, self.slots),
            read_weights=zeros,
            write_weights=zeros,
            reads=zeros.new_full((batch, self.reads, self.word), _START),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> LRUAInterface:
        """Head by head: [k, α, β]."""
        heads = vector.view(vector.shape[0], self.reads, self.head_sizes[0])
        keys, gates, strengths = heads.split_with_sizes([self.word, 1, int(self.strengths)], dim=2)
        return LRUAInterface(
            keys=keys,
            write_gates=torch.sigmoid(gates).squeeze(2),
            strengths=1 + F.softplus(strengths).sum(2),  # an absent strength counts as 1
        )

    def forward(self, interface: LRUAInterface, state: LRUAState, write: bool = True) -> LRUAState:
        """Write, then read (or read, then write)."""
        memory, write_weights = state.memory, torch.zeros_like(state.write_weights)
        if write:
            least_used = addressing.least_used(state.usage, self.reads)  # w^{lu}_{t−1}
            write_weights = addressing.interpolate(
                state.read_weights,
                least_used.unsqueeze(1).expand_as(state.read_weights),
                interface.write_gates,
            )
            emptied = 1 - addressing.least_used(state.usage, 1)
            added = torch.einsum("brn,brw->bnw", write_weights, interface.keys)
            memory = state.memory * emptied.unsqueeze(2) + added
        readable = state.memory if self.read_first else memory
        similarity = addressing.cosine_similarity(readable, interface.keys)
        read_weights = addressing.content_weights(similarity, interface.strengths)
        usage = self.decay * state.usage + read_weights.sum(1) + write_weights.sum(1)
        return LRUAState(memory, usage, read_weights, write_weights, addressing.read(readable, read_weights))

    def extra_repr(self) -> str:
        """The sizes and the decay."""
        return f"{super().extra_repr()}, decay={self.decay}"
