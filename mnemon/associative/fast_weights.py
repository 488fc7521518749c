"""Fast weights (thesis §2.4.3; Ba et al., 2016): a correlation memory of the recent past, which fades.

Letters: ``T steps, S rounds of refinement, H hidden``.

    A(t) = λ A(t−1) + η h(t) h(t)ᵀ                         ⊗ is η times the outer product, ⊕ fades the older trace
    h_{s+1}(t+1) = f([W h(t) + C x(t)] + A(t) h_s(t+1))    •: the memory pulls a state towards recent ones
    A(t) h = η Σ_τ λ^{t−τ} h(τ) (h(τ) · h)                 the same without a matrix: attention to all past states

**Deviations.** None; :func:`refine` takes W h + C x as one vector, and, where asked for, the layer norm that the paper
has inside f.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, einsum
from torch.nn import functional

from mnemon.associative.correlation import recall
from mnemon.errors import UserError


@dataclass(frozen=True, kw_only=True)
class FastWeightMemory:
    """λ and η. In a network key and value are both the hidden state; as a memory they may differ."""

    decay: float = 0.95  # λ
    rate: float = 0.5  # η

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise UserError(f"decay is {self.decay:g}: write a number from 0 (forget at once) to 1 (never)")
        if self.rate <= 0:
            raise UserError(f"rate is {self.rate:g}: write a number above 0")

    def encode(self, key: Float[Tensor, "*batch K"], value: Float[Tensor, "*batch V"]) -> Float[Tensor, "*batch V K"]:
        """⊗: η times the outer product."""
        return self.rate * einsum("...v,...k->...vk", value, key)

    def compose(self, first: Float[Tensor, "*batch V K"], second: Float[Tensor, "*batch V K"]) -> Tensor:
        """⊕: the older trace fades, and the newer is added."""
        return self.decay * first + second

    def store(
        self, keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
    ) -> Float[Tensor, "*batch V K"]:
        """All pairs at once, the last the freshest."""
        return einsum("...qv,q,...qk->...vk", values, self._freshness(keys), keys)

    def decode(
        self, keys: Float[Tensor, "*batch P K"], trace: Float[Tensor, "*batch V K"]
    ) -> Float[Tensor, "*batch P V"]:
        """•: the product."""
        return recall(trace, keys)

    def attend(
        self,
        queries: Float[Tensor, "*batch P K"],
        keys: Float[Tensor, "*batch Q K"],
        values: Float[Tensor, "*batch Q V"],
    ) -> Float[Tensor, "*batch P V"]:
        """What ``decode`` gives, from the pairs themselves: cheaper while there are fewer of them than units."""
        scores = einsum("...pk,...qk->...pq", queries, keys) * self._freshness(keys)
        return einsum("...pq,...qv->...pv", scores, values)

    def _freshness(self, pairs: Float[Tensor, "*batch Q K"]) -> Float[Tensor, "Q"]:
        """η λ^{age}."""
        ages = torch.arange(pairs.shape[-2] - 1, -1, -1, dtype=pairs.dtype, device=pairs.device)
        return self.rate * torch.full_like(ages, self.decay).pow(ages)


def refine(
    trace: Float[Tensor, "*batch H H"],
    driven: Float[Tensor, "*batch H"],
    *,
    rounds: int = 1,
    activation: Callable[[Tensor], Tensor] = torch.tanh,
    layer_norm: bool = False,
) -> Float[Tensor, "*batch H"]:
    """The next hidden state: ``driven``, which is W h + C x, through the activation alone, then S times with A."""
    if rounds < 0:
        raise UserError(f"rounds must be at least 0, got {rounds}")
    state = activation(driven)
    for _ in range(rounds):
        told = driven + einsum("...ij,...j->...i", trace, state)
        state = activation(functional.layer_norm(told, told.shape[-1:]) if layer_norm else told)
    return state
