"""Redundant associative memory (thesis §2.4.2; Danihelka et al., 2016): S holographic traces, each with permuted keys.

Letters: ``Q pairs, P probes, S copies, N size of keys and values``.

    c_s = Σ_k (P_s x^k) ⊛ y^k
    ỹ^k = 1/S Σ_s conj(P_s x^k) ⊛ c_s = y^k + Σ_{k'≠k} y^{k'} ⊛ 1/S Σ_s P_s[conj(x^k) ⊛ x^{k'}]

Permuting decorrelates the noise of the copies. For random keys of modulus 1 each of the Q − 1 terms has the mean square
1/S + (1 − 1/S)/N a unit of the values' power, the second part being pairs of copies that happen to put the same element
in the same place; for N ≫ S the noise is (Q − 1)/S, the thesis's O(Q/S).

**Deviations.** None. With S = 1 and no permutation this is :class:`mnemon.associative.holographic.HolographicMemory`.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Complex, Int
from torch import Tensor, einsum

from mnemon.errors import UserError


def random_permutations(copies: int, size: int, *, generator: torch.Generator | None = None) -> Int[Tensor, "S N"]:
    """For each copy, where each element of a key comes from."""
    if copies < 1 or size < 1:
        raise UserError(f"copies and size must be at least 1, got {copies} and {size}")
    device = torch.device("cpu") if generator is None else generator.device
    return torch.stack([torch.randperm(size, generator=generator, device=device) for _ in range(copies)])


def noise_variance(pairs: int, copies: int, size: int) -> float:
    """Mean square of the noise of an element, keys being random phases and values having power 1."""
    return (pairs - 1) * (1 / copies + (1 - 1 / copies) / size)


@dataclass(frozen=True, kw_only=True, eq=False)
class RedundantMemory:
    """S traces of the same pairs, read together. Keys are taken to have modulus 1."""

    permutations: Int[Tensor, "S N"]

    def __post_init__(self) -> None:
        size = self.permutations.shape[-1]
        places = torch.arange(size, device=self.permutations.device).expand_as(self.permutations)
        if not torch.equal(self.permutations.sort(dim=-1).values, places):
            raise UserError("each row of permutations must have every place once: write random_permutations(S, N)")

    def encode(
        self, key: Complex[Tensor, "*batch N"], value: Complex[Tensor, "*batch N"]
    ) -> Complex[Tensor, "*batch S N"]:
        """⊗: one product for each permuted key."""
        return key[..., self.permutations] * value.unsqueeze(-2)

    def compose(self, first: Complex[Tensor, "*batch S N"], second: Complex[Tensor, "*batch S N"]) -> Tensor:
        """⊕: the sum."""
        return first + second

    def store(
        self, keys: Complex[Tensor, "*batch Q N"], values: Complex[Tensor, "*batch Q N"]
    ) -> Complex[Tensor, "*batch S N"]:
        """All pairs at once."""
        return einsum("...qsn,...qn->...sn", keys[..., self.permutations], values)

    def decode(
        self, keys: Complex[Tensor, "*batch P N"], trace: Complex[Tensor, "*batch S N"]
    ) -> Complex[Tensor, "*batch P N"]:
        """•: the mean of what the copies say."""
        inverse = keys[..., self.permutations].conj()
        return einsum("...psn,...sn->...pn", inverse, trace) / self.permutations.shape[0]
