"""mLSTM, the matrix memory of xLSTM (beyond the thesis; Beck et al., 2024).

Letters: ``B`` batch, ``R`` queries, ``N`` numbers of a key, ``W`` numbers of a value.

An LSTM's cell grown to a matrix, with an exponential input gate and a normaliser that counts how much was written:

    C_t = f_t C_{t−1} + i_t k_t ⊗ v_t,      n_t = f_t n_{t−1} + i_t k_t,      i_t = exp(ĩ_t), f_t = σ(f̃_t)
    r_t = o_t ∘ q_tᵀ C_t / max(|q_tᵀ n_t|, 1)

exp(ĩ) overflows, so what is carried is C_t e^{−m_t} and n_t e^{−m_t}, with m_t = max(log f_t + m_{t−1}, ĩ_t); what is
read is the same, since the bound 1 becomes e^{−m_t}.

Deviations: one head, whose controller is the cell's; the published block has four, in a residual branch. ĩ is bounded
by ±15, softly, as in the authors' later xLSTM 7B (Beck et al., 2025), so that e^{−m} stays a number to divide by. The
forget gate is lifted by 4 (published: biases from 3 to 6), so that memory lasts before the gate has learnt anything.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, einsum
from torch.nn import functional as F

from mnemon.initialisation import NTMRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes
from mnemon.memory.delta import KEPT_AT_FIRST

INPUT_BOUND = 15.0  # of ĩ_t


class MLSTMInterface(NamedTuple):
    """The parts of the interface vector."""

    queries: Float[Tensor, "B R N"]  # q_t
    output_gates: Float[Tensor, "B R W"]  # o_t
    key: Float[Tensor, "B N"]  # k_t
    value: Float[Tensor, "B W"]  # v_t
    log_input: Float[Tensor, "B"]  # ĩ_t = log i_t
    log_forget: Float[Tensor, "B"]  # log f_t ≤ 0


class MLSTMState(NamedTuple):
    """What is carried from step to step, scaled by e^{−m_t}."""

    memory: Float[Tensor, "B N W"]  # C_t e^{−m_t}
    normaliser: Float[Tensor, "B N"]  # n_t e^{−m_t}
    log_scale: Float[Tensor, "B"]  # m_t
    reads: Float[Tensor, "B R W"]  # r_t


class MLSTMMemory(Memory[MLSTMInterface, MLSTMState]):
    """A matrix from keys to values with exponential gating.

    Args:
        slots: N, the numbers of a key.
        word: W, the numbers of a value.
        reads: R, the number of queries.
    """

    def __init__(self, slots: int, word: int, reads: int = 1) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads)
        self.slots, self.word, self.reads = slots, word, reads
        self.recipe = NTMRecipe()

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """A query and an output gate for each read; a key, a value and both gates for the write."""
        return (self.slots + self.word,) * self.reads + (self.slots + self.word + 2,)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> MLSTMState:
        """Zeros, to no scale."""
        memory = torch.zeros(batch, self.slots, self.word, device=device, dtype=dtype)
        return MLSTMState(
            memory=memory,
            normaliser=memory.new_zeros(batch, self.slots),
            log_scale=memory.new_zeros(batch),
            reads=memory.new_zeros(batch, self.reads, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> MLSTMInterface:
        """[q, o] for each read, then [k, v, ĩ, f̃]; keys are divided by √N."""
        pairs, gates = vector.split_with_sizes([(self.slots + self.word) * (self.reads + 1), 2], dim=1)
        heads = pairs.view(-1, self.reads + 1, self.slots + self.word)
        addresses, values = heads.split_with_sizes([self.slots, self.word], dim=2)
        log_input, forget = gates.unbind(1)
        return MLSTMInterface(
            queries=addresses[:, :-1],
            output_gates=torch.sigmoid(values[:, :-1]),
            key=addresses[:, -1] / math.sqrt(self.slots),
            value=values[:, -1],
            log_input=INPUT_BOUND * torch.tanh(log_input / INPUT_BOUND),
            log_forget=F.logsigmoid(forget + KEPT_AT_FIRST),
        )

    def forward(self, interface: MLSTMInterface, state: MLSTMState, write: bool = True) -> MLSTMState:
        """Write, then read."""
        memory, normaliser, log_scale = state.memory, state.normaliser, state.log_scale
        if write:
            kept = interface.log_forget + log_scale
            log_scale = torch.maximum(kept, interface.log_input)  # m_t
            forget = torch.exp(kept - log_scale).unsqueeze(1)
            added = torch.exp(interface.log_input - log_scale).unsqueeze(1) * interface.key  # i k e^{−m}
            normaliser = torch.addcmul(added, forget, normaliser)
            memory = torch.addcmul(forget.unsqueeze(2) * memory, added.unsqueeze(2), interface.value.unsqueeze(1))
        counted = einsum("brn,bn->br", interface.queries, normaliser).abs()
        divisor = torch.maximum(counted, torch.exp(-log_scale).unsqueeze(1)).unsqueeze(2)
        reads = interface.output_gates * addressing.read(memory, interface.queries) / divisor
        return MLSTMState(memory, normaliser, log_scale, reads)
