"""The Hopfield network (thesis §2.3.1): patterns are the places where its energy is lowest.

Letters: ``Q patterns, N units, P probes``; before them any batch of networks. Units are ±1.

    w_ij = Σ_p x_i^p x_j^p,  w_ii = 0              Hebbian: ⊗ is the outer product, ⊕ the sum
    x_i ← sign(Σ_j w_ij x_j)                       one unit after the other: •
    E(x) = −½ Σ_ij w_ij x_i x_j                    never rises
    Σ_{q≠p} x^q (x^p · x^q)                        crosstalk: what the other patterns do to pattern p

A unit of a stored pattern flips in one step where the crosstalk is against it and larger than N. It is a sum of random
signs, so that this happens with probability ½ erfc(√(N/2Q)), which is 1 % at Q = 0.18 N. Flips bring others: what is
left after settling follows from the mean-field theory of Amit, Gutfreund and Sompolinsky (1985), whose solution near
the pattern ends at Q = 0.138 N.

**Deviations.** w_ii = 0, which the thesis leaves out: with it the energy cannot rise. A unit whose field is exactly
zero keeps its sign, where sign(0) would be no state.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, einsum

from mnemon.errors import UserError

CAPACITY = 0.138  # Q/N up to which patterns are near minima of the energy
ONE_PERCENT = 0.185  # Q/N at which a unit in a hundred flips in one step; the thesis prints 0.18


class Settled(NamedTuple):
    """Where probes ended."""

    states: Tensor  # as the probes were
    sweeps: int  # through all units, until none would change
    stable: bool  # whether none would: False where the sweeps ran out


def hebbian_weights(patterns: Float[Tensor, "*batch Q N"]) -> Float[Tensor, "*batch N N"]:
    """The correlation matrix of the patterns without its diagonal."""
    _check_signs(patterns)
    weights = einsum("...qi,...qj->...ij", patterns, patterns)
    return weights - torch.diag_embed(weights.diagonal(dim1=-2, dim2=-1))


def fields(weights: Float[Tensor, "*batch N N"], states: Float[Tensor, "*batch P N"]) -> Float[Tensor, "*batch P N"]:
    """What each unit is told by the others."""
    return einsum("...ij,...pj->...pi", weights, states)


def energy(weights: Float[Tensor, "*batch N N"], states: Float[Tensor, "*batch P N"]) -> Float[Tensor, "*batch P"]:
    """The Lyapunov function E."""
    return -0.5 * einsum("...pi,...pi->...p", states, fields(weights, states))


def crosstalk(patterns: Float[Tensor, "*batch Q N"]) -> Float[Tensor, "*batch Q N"]:
    """What all other patterns add to the field of each, the diagonal of the weights being left in, as printed."""
    overlaps = einsum("...pi,...qi->...pq", patterns, patterns)
    others = overlaps - torch.diag_embed(overlaps.diagonal(dim1=-2, dim2=-1))
    return einsum("...pq,...qi->...pi", others, patterns)


def update_all(
    weights: Float[Tensor, "*batch N N"], states: Float[Tensor, "*batch P N"]
) -> Float[Tensor, "*batch P N"]:
    """All units at once, each seeing the states before; this may go to and fro between two states."""
    return _new_signs(fields(weights, states), states)


def settle(
    weights: Float[Tensor, "*batch N N"],
    states: Float[Tensor, "*batch P N"],
    *,
    order: Int[Tensor, "N"] | None = None,
    sweeps: int = 100,
) -> Settled:
    """One unit after the other, in the order given or from the first to the last, until none changes."""
    _check_signs(states)
    if sweeps < 1:
        raise UserError(f"sweeps must be at least 1, got {sweeps}")
    units = list(range(states.shape[-1])) if order is None else order.tolist()
    if sorted(units) != list(range(states.shape[-1])):
        raise UserError(f"order must name each of the {states.shape[-1]} units once: write torch.randperm of them")
    states = states.clone()
    for sweep in range(1, sweeps + 1):
        if bool((update_all(weights, states) == states).all()):
            return Settled(states, sweep - 1, True)
        told = fields(weights, states)  # kept up to date below: most units keep their sign, and then nothing is to do
        for unit in units:
            before = states[..., unit]
            change = _new_signs(told[..., unit], before) - before
            if bool(change.any()):
                told += einsum("...p,...j->...pj", change, weights[..., :, unit])
                states[..., unit] += change
    return Settled(states, sweeps, bool((update_all(weights, states) == states).all()))


def is_spurious(states: Float[Tensor, "*batch P N"], patterns: Float[Tensor, "*batch Q N"]) -> Bool[Tensor, "*batch P"]:
    """Which states are no stored pattern, and none with all its signs turned; of stable ones these are the spurious."""
    overlaps = einsum("...pi,...qi->...pq", states, patterns).abs()
    return (overlaps < states.shape[-1]).all(dim=-1)


def one_step_error(patterns: int, units: int) -> float:
    """The share of units of a stored pattern that flip in one step, crosstalk being taken as Gaussian.

    For large sizes this is ½ erfc(√(N/2Q)); without the diagonal, and without the pattern itself, N − 1 and Q − 1.
    """
    if patterns < 2 or units < 2:
        return 0.0
    return 0.5 * math.erfc(math.sqrt((units - 1) / (2 * (patterns - 1))))


def settled_error(load: float) -> float:
    """The share of wrong units after settling from a stored pattern, at a load Q/N; nan above the capacity.

    The overlap with the pattern is erf(y) with the largest root y of y (√(2α) + 2/√π e^{−y²}) = erf(y).
    """

    def excess(y: float) -> float:
        return math.erf(y) - y * (math.sqrt(2 * load) + 2 / math.sqrt(math.pi) * math.exp(-y * y))

    largest = 1 / math.sqrt(2 * load)  # where erf(y) ≤ 1 ends the search
    steps = 2_000
    high = largest
    for step in range(steps - 1, 0, -1):  # the largest root: look from above
        low = largest * step / steps
        if excess(low) > 0:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if excess(middle) > 0 else (low, middle)
            return 0.5 * math.erfc(low)
        high = low
    return math.nan


@dataclass(frozen=True, kw_only=True)
class HopfieldMemory:
    """⊗, ⊕ and • with patterns that are their own keys."""

    sweeps: int = 100  # through all units, at most, until they are settled

    def encode(self, key: Float[Tensor, "*batch N"], value: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N N"]:
        """⊗: the outer product without its diagonal."""
        return self.store(key.unsqueeze(-2), value.unsqueeze(-2))

    def compose(self, first: Float[Tensor, "*batch N N"], second: Float[Tensor, "*batch N N"]) -> Tensor:
        """⊕: the sum."""
        return first + second

    def store(
        self, keys: Float[Tensor, "*batch Q N"], values: Float[Tensor, "*batch Q N"]
    ) -> Float[Tensor, "*batch N N"]:
        """All patterns at once."""
        if not torch.equal(keys, values):
            raise UserError("a Hopfield network stores patterns, not pairs: give the same tensor for keys and values")
        return hebbian_weights(keys)

    def decode(
        self, keys: Float[Tensor, "*batch P N"], trace: Float[Tensor, "*batch N N"]
    ) -> Float[Tensor, "*batch P N"]:
        """•: where the network settles."""
        return settle(trace, keys, sweeps=self.sweeps).states


def _new_signs(field: Tensor, before: Tensor) -> Tensor:
    return torch.where(field == 0, before, torch.sign(field))


def _check_signs(values: Tensor) -> None:
    if not bool((values.abs() == 1).all()):
        raise UserError("the units of a Hopfield network are +1 or -1: write 2 * bits - 1 for zeros and ones")
