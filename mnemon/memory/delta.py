"""The delta rule: DeltaNet, gated DeltaNet and, without the rule, linear attention (beyond the thesis).

Schlag, Irie & Schmidhuber, 2021 (fast weights with the delta rule); Yang et al., 2024 (DeltaNet, its keys); Yang, Kautz
& Hatamizadeh, 2025 (the gate); Grazzi et al., 2025 (β up to 2); Katharopoulos et al., 2020 (linear attention).

Letters: ``B`` batch, ``R`` queries, ``N`` numbers of a key, ``W`` numbers of a value.

The memory is a matrix that maps keys to values. A write looks up what the key has now and puts the difference right:

    M_t = α_t M_{t−1} + β_t k_t ⊗ (v_t − k_tᵀ α_t M_{t−1}),      r_t = q_tᵀ M_t

With β = 1 and a key of length one, k_tᵀ M_t = v_t exactly: what the key had is replaced, other keys keep theirs as far
as they are orthogonal to it. Without the rule, ``delta=False``, M_t = α_t M_{t−1} + β_t k_t ⊗ v_t: values of a key add
up. A slot memory's slots are the rows here, and keys and queries are weightings of them whose entries may be negative.

Deviations: the published layers have several such matrices, short convolutions before keys and values, and a norm and
an output gate after the read; here the controller sees the sequence, and the read-out what is read. The gate is
α = σ(a + 4), which is the published exp(−A softplus(·)) at A = 1, lifted so that it begins near one.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, einsum
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import NTMRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes

KEPT_AT_FIRST = 4.0  # added to a forget gate: σ(4) = 0.98, so that memory lasts before the gate has learnt anything


class DeltaInterface(NamedTuple):
    """The parts of the interface vector."""

    queries: Float[Tensor, "B R N"]  # q_t, of length one
    key: Float[Tensor, "B N"]  # k_t, of length one
    value: Float[Tensor, "B W"]  # v_t
    strength: Float[Tensor, "B"]  # β_t: how much of the value is written
    retention: Float[Tensor, "B"]  # α_t: how much of the memory is kept; 1 without the gate


class DeltaState(NamedTuple):
    """What is carried from step to step."""

    memory: Float[Tensor, "B N W"]  # M_t
    reads: Float[Tensor, "B R W"]  # r_t


class DeltaMemory(Memory[DeltaInterface, DeltaState]):
    """A matrix from keys to values, corrected at each write.

    Args:
        slots: N, the numbers of a key: as many values can be held exactly.
        word: W, the numbers of a value.
        reads: R, the number of queries.
        delta: write the difference from what the key has; without it, add (linear attention).
        gated: let the memory fade, by α_t (gated DeltaNet).
        largest_strength: the bound of β. Above 1 a write may turn what it finds around; at most 2, where it still
            cannot grow by it.
    """

    def __init__(
        self,
        slots: int,
        word: int,
        reads: int = 1,
        *,
        delta: bool = True,
        gated: bool = False,
        largest_strength: float = 1.0,
    ) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads)
        if not 0 < largest_strength <= 2:
            raise UserError(f"largest_strength must be above 0 and at most 2, got {largest_strength}")
        self.slots, self.word, self.reads = slots, word, reads
        self.delta, self.gated, self.largest_strength = delta, gated, largest_strength
        self.recipe = NTMRecipe()

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """A query for each read; a key, a value, β and, with the gate, α for the write."""
        return (self.slots,) * self.reads + (self.slots + self.word + 1 + int(self.gated),)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> DeltaState:
        """Zeros."""
        memory = torch.zeros(batch, self.slots, self.word, device=device, dtype=dtype)
        return DeltaState(memory, memory.new_zeros(batch, self.reads, self.word))

    def parse(self, vector: Float[Tensor, "B interface"]) -> DeltaInterface:
        """[q …, k, v, β, α]; queries and keys are SiLU(·) of length one."""
        places = self.slots * (self.reads + 1)
        addresses, value, strength, gate = vector.split_with_sizes([places, self.word, 1, int(self.gated)], dim=1)
        units = addressing.unit(F.silu(addresses.view(-1, self.reads + 1, self.slots)))
        return DeltaInterface(
            queries=units[:, :-1],
            key=units[:, -1],
            value=value,
            strength=self.largest_strength * torch.sigmoid(strength).squeeze(1),
            retention=torch.sigmoid(gate + KEPT_AT_FIRST).prod(1),  # 1 where there is none
        )

    def forward(self, interface: DeltaInterface, state: DeltaState, write: bool = True) -> DeltaState:
        """Write, then read."""
        memory = state.memory
        if write:
            kept = memory * interface.retention.view(-1, 1, 1) if self.gated else memory
            change = interface.value
            if self.delta:
                change = change - einsum("bn,bnw->bw", interface.key, kept)
            written = interface.strength.unsqueeze(1) * change
            memory = torch.addcmul(kept, interface.key.unsqueeze(2), written.unsqueeze(1))  # + k ⊗ β(v − kᵀM)
        return DeltaState(memory, addressing.read(memory, interface.queries))

    def extra_repr(self) -> str:
        """The sizes and the rule."""
        return f"{super().extra_repr()}, delta={self.delta}, gated={self.gated}"
