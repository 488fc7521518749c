"""Attention over a sequence, read like a memory (thesis §3.2.1; Bahdanau et al., 2015).

Letters: ``B`` batch, ``T`` steps attended to, ``D`` numbers of each, ``K`` attention.

The memory is what an encoder left at each of its steps; nothing writes it. The interface vector is the query W s, and

    e_j = vᵀ tanh(W s + U d_j),      α = softmax_j(e),      r = Σ_j α_j d_j.

Deviations: what is read after a step is seen by the next one and by the read-out, as with any memory of a cell; the
published model reads before the step, and a decoder's first step has nothing read yet.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon.initialisation import DNCRecipe
from mnemon.memory.base import Memory, check_sizes


class AttentionInterface(NamedTuple):
    """The query."""

    query: Float[Tensor, "B K"]  # W s


class AttentionState(NamedTuple):
    """What is attended to, and what was last read."""

    values: Float[Tensor, "B T D"]  # d_j
    keys: Float[Tensor, "B T K"]  # U d_j
    valid: Bool[Tensor, "B T"]  # the steps that a row has
    read_weights: Float[Tensor, "B 1 T"]  # α
    reads: Float[Tensor, "B 1 D"]


class AttentionMemory(Memory[AttentionInterface, AttentionState]):
    """A sequence that is attended to.

    Args:
        value_size: D.
        attention_size: K.
    """

    recipe = DNCRecipe()

    def __init__(self, value_size: int, attention_size: int) -> None:
        super().__init__()
        check_sizes(value_size=value_size, attention_size=attention_size)
        self.slots, self.word, self.reads = 0, value_size, 1  # as many slots as steps
        self.key_weight = nn.Parameter(torch.empty(attention_size, value_size))  # U
        self.score = nn.Parameter(torch.empty(attention_size))  # v
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """N(0, 0.1²), as the interface's."""
        nn.init.normal_(self.key_weight, std=0.1)
        nn.init.normal_(self.score, std=0.1)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """One head."""
        return (self.score.shape[0],)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> AttentionState:
        """Nothing to attend to yet."""
        return self.attend(
            torch.zeros(0, batch, self.word, device=device, dtype=dtype),
            torch.zeros(batch, dtype=torch.int64, device=device),
        )

    def attend(self, values: Float[Tensor, "T B D"], lengths: Int[Tensor, "B"] | None) -> AttentionState:
        """The state from which the first ``lengths`` steps of each row are attended to."""
        steps, batch, _ = values.shape
        rows = values.transpose(0, 1)
        valid = torch.ones(batch, steps, dtype=torch.bool, device=values.device)
        if lengths is not None:
            valid = torch.arange(steps, device=values.device) < lengths.to(values.device).unsqueeze(1)
        return AttentionState(
            rows,
            rows @ self.key_weight.T,
            valid,
            values.new_zeros(batch, 1, steps),
            values.new_zeros(batch, 1, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> AttentionInterface:
        """All of it."""
        return AttentionInterface(vector)

    def forward(self, interface: AttentionInterface, state: AttentionState, write: bool = True) -> AttentionState:  # noqa: ARG002
        """Read; a row with nothing to attend to reads zeros."""
        scores = torch.tanh(interface.query.unsqueeze(1) + state.keys) @ self.score  # B T
        lowest = torch.finfo(scores.dtype).min
        weights = torch.softmax(scores.masked_fill(~state.valid, lowest), dim=1) * state.valid
        weights = weights.unsqueeze(1)
        return state._replace(read_weights=weights, reads=weights @ state.values)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"value_size={self.word}, attention_size={self.score.shape[0]}"
