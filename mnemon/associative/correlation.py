"""Correlation matrix memory (thesis §2.4.3): pairs as a sum of outer products, recalled by a product.

Letters: ``Q pairs, P probes, K size of a key, V size of a value``.

    M = Σ_i y_i x_iᵀ                              Hebbian: ⊗ is the outer product, ⊕ the sum
    ỹ = M x = y ‖x‖² + Σ_{i: x_i ≠ x} y_i x_iᵀx    •: exact for orthonormal keys
    M ← M + η (y − M x) xᵀ                        Widrow–Hoff: exact, in the end, for linearly independent keys

**Deviations.** Recall as printed returns ‖x‖² y; :class:`CorrelationMemory` makes keys unit vectors first. The binary
memory of :func:`clipped_outer_products` is the one whose capacity, as the thesis says, grows with sparsity (Willshaw).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, einsum
from torch.nn import functional

from mnemon.errors import UserError


def outer_products(
    keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
) -> Float[Tensor, "*batch V K"]:
    """The Hebbian memory M."""
    return einsum("...qv,...qk->...vk", values, keys)


def recall(memory: Float[Tensor, "*batch V K"], keys: Float[Tensor, "*batch P K"]) -> Float[Tensor, "*batch P V"]:
    """M x for each key."""
    return einsum("...vk,...pk->...pv", memory, keys)


def widrow_hoff(
    memory: Float[Tensor, "*batch V K"],
    keys: Float[Tensor, "*batch Q K"],
    values: Float[Tensor, "*batch Q V"],
    *,
    rate: float = 1.0,
    sweeps: int = 1,
) -> Float[Tensor, "*batch V K"]:
    """Correct the memory by what it gets wrong of each pair in turn, through all pairs ``sweeps`` times.

    It converges for a rate between 0 and 2 over the largest ‖x‖², for unit keys between 0 and 2; at 1/‖x‖² the pair
    just seen is exact.
    """
    if rate <= 0:
        raise UserError(f"rate is {rate:g}: write a number above 0, and below 2 for unit keys")
    if sweeps < 1:
        raise UserError(f"sweeps must be at least 1, got {sweeps}")
    for _ in range(sweeps):
        for key, value in zip(keys.unbind(dim=-2), values.unbind(dim=-2), strict=True):
            wrong = value - einsum("...vk,...k->...v", memory, key)
            memory = memory + rate * einsum("...v,...k->...vk", wrong, key)
    return memory


def least_squares(
    keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
) -> Float[Tensor, "*batch V K"]:
    """What Widrow–Hoff from zero goes to: the smallest M with the least ‖Y − M X‖², by the pseudo-inverse."""
    return einsum("...kq,...qv->...vk", torch.linalg.pinv(keys), values)


def clipped_outer_products(
    keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
) -> Float[Tensor, "*batch V K"]:
    """For keys and values of zeros and ones: a synapse is 1 where any pair has both its ends."""
    _check_bits(keys, values)
    return (outer_products(keys, values) > 0).to(keys.dtype)


def thresholded_recall(
    memory: Float[Tensor, "*batch V K"], keys: Float[Tensor, "*batch P K"]
) -> Float[Tensor, "*batch P V"]:
    """A bit is 1 where all ones of the key lead to it. No one that was stored is lost; some may come up besides."""
    _check_bits(keys)
    return (recall(memory, keys) >= keys.sum(dim=-1, keepdim=True)).to(keys.dtype)


@dataclass(frozen=True, kw_only=True)
class CorrelationMemory:
    """⊗, ⊕ and • of the Hebbian memory; a key of zeros stores and finds nothing."""

    unit_keys: bool = True

    def encode(self, key: Float[Tensor, "*batch K"], value: Float[Tensor, "*batch V"]) -> Float[Tensor, "*batch V K"]:
        """⊗: the outer product."""
        return einsum("...v,...k->...vk", value, self._scaled(key))

    def compose(self, first: Float[Tensor, "*batch V K"], second: Float[Tensor, "*batch V K"]) -> Tensor:
        """⊕: the sum."""
        return first + second

    def store(
        self, keys: Float[Tensor, "*batch Q K"], values: Float[Tensor, "*batch Q V"]
    ) -> Float[Tensor, "*batch V K"]:
        """All pairs at once."""
        return outer_products(self._scaled(keys), values)

    def decode(
        self, keys: Float[Tensor, "*batch P K"], trace: Float[Tensor, "*batch V K"]
    ) -> Float[Tensor, "*batch P V"]:
        """•: the product."""
        return recall(trace, self._scaled(keys))

    def _scaled(self, keys: Tensor) -> Tensor:
        return functional.normalize(keys, dim=-1) if self.unit_keys else keys


def _check_bits(*tensors: Tensor) -> None:
    for tensor in tensors:
        if not bool(((tensor == 0) | (tensor == 1)).all()):
            raise UserError("a binary correlation memory stores zeros and ones: write (x > 0).float()")
