"""Stable Hadamard memory (beyond the thesis; Le et al., 2024).

Letters: ``B`` batch, ``R`` queries, ``N`` numbers of a key, ``W`` numbers of a value, ``L`` rows of the table.

Before each write every number of the memory is multiplied by its own factor, which strengthens or weakens it:

    M_t = C_t ∘ M_{t−1} + η_t k_t ⊗ v_t,      C_t = 1 + tanh(c_t ⊗ θ_t),      r_t = q_tᵀ M_t

The factors lie between 0 and 2, so their product over a long sequence might vanish or explode. It does neither because
θ_t comes from a table and not from the input: factors of different steps have little to do with each other, and their
mean is 1.

Deviations: θ_t is the next row of the table at each step, going round, where the paper draws one at random (its
released program always takes the first): a sequence in parts then gives what it gives whole, and so does one run
twice. The rows are centred. As log(1 + tanh x) is concave, the product over a round is then at most 1 wherever c stays
the same: what repeats can never blow the memory up. Keys and queries are max(·, 0), divided by their sum, as in that
program.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.initialisation import NTMRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes

SMALLEST_SUM = 1e-5  # added to the sum that keys are divided by


class HadamardInterface(NamedTuple):
    """The parts of the interface vector."""

    queries: Float[Tensor, "B R N"]  # q_t ≥ 0, with sum one
    key: Float[Tensor, "B N"]  # k_t ≥ 0, with sum one
    value: Float[Tensor, "B W"]  # v_t
    calibration: Float[Tensor, "B N"]  # c_t
    write_gate: Float[Tensor, "B"]  # η_t


class HadamardState(NamedTuple):
    """What is carried from step to step."""

    memory: Float[Tensor, "B N W"]  # M_t
    row: Int[Tensor, "B"]  # of the table, the next to be used
    reads: Float[Tensor, "B R W"]  # r_t


class HadamardMemory(Memory[HadamardInterface, HadamardState]):
    """A matrix from keys to values whose numbers are calibrated one by one.

    Args:
        slots: N, the numbers of a key.
        word: W, the numbers of a value.
        reads: R, the number of queries.
        rows: L, the rows of the table of θ.
    """

    def __init__(self, slots: int, word: int, reads: int = 1, *, rows: int = 128) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads, rows=rows)
        self.slots, self.word, self.reads, self.rows = slots, word, reads, rows
        self.recipe = NTMRecipe()
        self.table = nn.Parameter(torch.empty(rows, word))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The table, Xavier uniform."""
        nn.init.xavier_uniform_(self.table)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """A query for each read; a key, a calibration, a value and a gate for the write."""
        return (self.slots,) * self.reads + (2 * self.slots + self.word + 1,)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> HadamardState:
        """Zeros, and the first row."""
        memory = torch.zeros(batch, self.slots, self.word, device=device, dtype=dtype)
        return HadamardState(
            memory=memory,
            row=torch.zeros(batch, device=device, dtype=torch.int64),
            reads=memory.new_zeros(batch, self.reads, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> HadamardInterface:
        """[q …, k, c, v, η]."""
        places = self.slots * (self.reads + 1)
        addresses, calibration, value, gate = vector.split_with_sizes([places, self.slots, self.word, 1], dim=1)
        positive = torch.relu(addresses.view(-1, self.reads + 1, self.slots))
        shares = positive / (positive.sum(2, keepdim=True) + SMALLEST_SUM)
        return HadamardInterface(
            queries=shares[:, :-1],
            key=shares[:, -1],
            value=value,
            calibration=calibration,
            write_gate=torch.sigmoid(gate).squeeze(1),
        )

    def forward(self, interface: HadamardInterface, state: HadamardState, write: bool = True) -> HadamardState:
        """Calibrate, write, then read."""
        memory, row = state.memory, state.row
        if write:
            theta = self.table[row] - self.table.mean(0)  # θ_t, B W
            strengthened = torch.tanh(interface.calibration.unsqueeze(2) * theta.unsqueeze(1))  # C_t − 1
            added = (interface.write_gate.unsqueeze(1) * interface.value).unsqueeze(1)
            memory = torch.addcmul(torch.addcmul(memory, memory, strengthened), interface.key.unsqueeze(2), added)
            row = (row + 1) % self.rows
        return HadamardState(memory, row, addressing.read(memory, interface.queries))
