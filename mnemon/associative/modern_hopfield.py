"""The modern Hopfield network (beyond the thesis; Ramsauer et al., 2021): the bridge from chapter 2 to attention.

Letters: ``Q patterns, P probes, N units``; patterns X are real vectors, one a row, and stay as they are.

    E(ξ) = −1/β ln Σ_q e^{β x_q·ξ} + ½ ξ·ξ     never rises under
    ξ ← Xᵀ softmax(β X ξ)                      one update, which is attention with keys and values X and β = 1/√d

The exponential makes the largest overlap outweigh all others: patterns that are apart by more than a few 1/β are
recalled in one step, exponentially many in N, where the classical network with its quadratic energy holds 0.138 N. Here
⊗ keeps the pair and ⊕ puts pairs side by side: the trace grows with what is stored, as a Transformer's cache does.

**Deviations.** E is given without the two constants of the paper, ln Q / β and half the largest ‖x‖².
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, einsum

from mnemon.errors import UserError


def energy(
    patterns: Float[Tensor, "*batch Q N"], states: Float[Tensor, "*batch P N"], *, sharpness: float
) -> Float[Tensor, "*batch P"]:
    """E."""
    overlaps = einsum("...pn,...qn->...pq", states, patterns)
    return 0.5 * (states * states).sum(dim=-1) - torch.logsumexp(sharpness * overlaps, dim=-1) / sharpness


def update(
    patterns: Float[Tensor, "*batch Q N"], states: Float[Tensor, "*batch P N"], *, sharpness: float
) -> Float[Tensor, "*batch P N"]:
    """One step down the energy."""
    return attend(states, patterns, patterns, sharpness=sharpness)


def attend(
    queries: Float[Tensor, "*batch P K"],
    keys: Float[Tensor, "*batch Q K"],
    values: Float[Tensor, "*batch Q V"],
    *,
    sharpness: float,
) -> Float[Tensor, "*batch P V"]:
    """Softmax attention: what the update is where values are keys."""
    weights = torch.softmax(sharpness * einsum("...pk,...qk->...pq", queries, keys), dim=-1)
    return einsum("...pq,...qv->...pv", weights, values)


@dataclass(frozen=True, kw_only=True)
class ModernHopfieldMemory:
    """A trace is a list of pairs, each a row of ``key_size`` numbers for the key and the rest for the value."""

    key_size: int
    sharpness: float | None = None  # β; None: 1/√K, as in a Transformer

    def __post_init__(self) -> None:
        if self.key_size < 1:
            raise UserError(f"key_size must be at least 1, got {self.key_size}")
        if self.sharpness is not None and self.sharpness <= 0:
            raise UserError(f"sharpness is {self.sharpness:g}: write a number above 0, or none for 1/√key_size")

    def encode(self, key: Float[Tensor, "*batch K"], value: Float[Tensor, "*batch V"]) -> Float[Tensor, "*batch 1 KV"]:
        """⊗: the pair as a row."""
        return self.store(key.unsqueeze(-2), value.unsqueeze(-2))

    def compose(self, first: Float[Tensor, "*batch Q KV"], second: Float[Tensor, "*batch Q2 KV"]) -> Tensor:
        """⊕: the rows of both."""
        return torch.cat([first, second], dim=-2)

    def store(
        self, keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
    ) -> Float[Tensor, "*batch Q KV"]:
        """All pairs at once."""
        if keys.shape[-1] != self.key_size:
            raise UserError(f"keys have {keys.shape[-1]} numbers, not key_size {self.key_size}")
        return torch.cat([keys, values], dim=-1)

    def decode(
        self, keys: Float[Tensor, "*batch P K"], trace: Float[Tensor, "*batch Q KV"]
    ) -> Float[Tensor, "*batch P V"]:
        """•: attention."""
        sharpness = 1 / math.sqrt(self.key_size) if self.sharpness is None else self.sharpness
        stored, values = trace[..., : self.key_size], trace[..., self.key_size :]
        return attend(keys, stored, values, sharpness=sharpness)
