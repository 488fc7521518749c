"""Kanerva's sparse distributed memory (thesis §2.4.4): an item is spread over all locations near its address.

Letters: ``N locations, D bits of an address, W bits of a content, Q items, P probes``. Bits are 0 and 1.

    M(x) = {n : d(a_n, x) ≤ r}               the access circle: Hamming distance at most r
    C ← C + y(x) (2c − 1)ᵀ                   ⊗ and ⊕: all counters in the circle go up or down
    c' = [Cᵀ y(x') ≥ 0]                      •: the counters in the circle of the cue, summed, and their sign

where y(x) marks M(x). On ±1 vectors d ≤ r is a·x ≥ D − 2r, the thesis's similarity form.

A location is within r of two addresses at distance δ with the probability ρ(δ). So the circle of a cue has n locations,
a binomial number with the mean N ρ(0); of these, the item meant has c₀, binomial with the mean n ρ(δ)/ρ(0); and each
other item, at a distance that is itself binomial, has c of them, with bits of random sign. A bit is wrong with the
probability Φ(−c₀/σ), with σ² = (Q − 1) E[c²], averaged over n and c₀: :func:`bit_error`.

**Deviations.** Distance r itself is inside, as with Kanerva; the thesis prints d < r, and in its matrix form a
similarity that must reach r. Counters get ±1, as its algorithm says; its matrix form would never count down.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor, einsum

from mnemon.errors import UserError

NEGLIGIBLE = 1e-12  # a probability


def random_bits(*shape: int, generator: torch.Generator | None = None) -> Float[Tensor, "..."]:
    """Zeros and ones, drawn on the generator's device."""
    device = torch.device("cpu") if generator is None else generator.device
    return torch.randint(0, 2, shape, generator=generator, device=device).float()


def signs(bits: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """−1 for 0 and +1 for 1."""
    return 2 * bits - 1


def hamming(addresses: Float[Tensor, "N D"], cues: Float[Tensor, "*batch P D"]) -> Float[Tensor, "*batch P N"]:
    """In how many bits each cue differs from each address."""
    return (addresses.shape[-1] - einsum("nd,...pd->...pn", signs(addresses), signs(cues))) / 2


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseDistributedMemory:
    """Locations with fixed addresses; the counters are the trace."""

    addresses: Float[Tensor, "N D"]
    radius: int

    def __post_init__(self) -> None:
        _check_bits(self.addresses)
        if not 0 <= self.radius <= self.addresses.shape[-1]:
            raise UserError(f"radius is {self.radius}: write a number of bits from 0 to {self.addresses.shape[-1]}")

    def chosen(self, cues: Float[Tensor, "*batch P D"]) -> Float[Tensor, "*batch P N"]:
        """y: 1 for the locations within the radius."""
        _check_bits(cues)
        return (hamming(self.addresses, cues) <= self.radius).to(cues.dtype)

    def encode(self, key: Float[Tensor, "*batch D"], value: Float[Tensor, "*batch W"]) -> Float[Tensor, "*batch N W"]:
        """⊗: the content, as ±1, in all chosen locations."""
        return self.store(key.unsqueeze(-2), value.unsqueeze(-2))

    def compose(self, first: Float[Tensor, "*batch N W"], second: Float[Tensor, "*batch N W"]) -> Tensor:
        """⊕: counters add up."""
        return first + second

    def store(
        self, keys: Float[Tensor, "*batch Q D"], values: Float[Tensor, "*batch Q W"]
    ) -> Float[Tensor, "*batch N W"]:
        """All items at once."""
        _check_bits(values)
        return einsum("...qn,...qw->...nw", self.chosen(keys), signs(values))

    def decode(
        self, keys: Float[Tensor, "*batch P D"], trace: Float[Tensor, "*batch N W"]
    ) -> Float[Tensor, "*batch P W"]:
        """•: the sign of the sum of the chosen counters; a sum of zero, as of no location at all, gives 1."""
        return (einsum("...pn,...nw->...pw", self.chosen(keys), trace) >= 0).to(keys.dtype)

    def store_sequence(self, items: Float[Tensor, "*batch T D"]) -> Float[Tensor, "*batch N D"]:
        """Each item is the address of the next."""
        return self.store(items[..., :-1, :], items[..., 1:, :])

    def read_on(
        self, cues: Float[Tensor, "*batch P D"], trace: Float[Tensor, "*batch N D"]
    ) -> Iterator[Float[Tensor, "*batch P D"]]:
        """What is read at the cue, then at what was read, without end.

        Of items that are their own address this comes nearer to the one meant; of sequences it is what follows.
        """
        while True:
            cues = self.decode(cues, trace)
            yield cues


def radius_for(share: float, bits: int) -> int:
    """The smallest radius at which a random location is chosen with at least this probability."""
    if not 0 < share <= 1:
        raise UserError(f"share is {share:g}: write a probability above 0, up to 1")
    chances = torch.cumsum(_binomial(bits), dim=0)
    return min(int((chances < share * (1 - NEGLIGIBLE)).sum()), bits)


@lru_cache(maxsize=4_096)
def shared_access(distance: int, bits: int, radius: int) -> float:
    """ρ: the chance of a random location to be within the radius of two addresses so far apart.

    Of the bits in which they disagree it differs from the one in i, hence from the other in the rest; of the bits in
    which they agree it may differ in as many as the worse of the two has left.
    """
    differing = torch.arange(distance + 1)
    left = radius - torch.maximum(differing, distance - differing)
    within = torch.cumsum(_binomial(bits - distance), dim=0)[left.clamp(0, bits - distance)]
    return float(_binomial(distance) @ torch.where(left >= 0, within, 0.0))


def bit_error(distance: int, *, bits: int, radius: int, locations: int, items: int) -> float:
    """The chance of a wrong bit, read at a cue so far from one of the stored addresses."""
    chosen = shared_access(0, bits, radius)  # chance of a location to be in the cue's circle
    shared = torch.tensor([shared_access(other, bits, radius) for other in range(bits + 1)], dtype=torch.float64)
    among = (shared / chosen).clamp(max=1.0)  # chance of one in the circle to be in another's as well
    others = _binomial(bits)
    singly, squared = float(others @ (among * (1 - among))), float(others @ among.square())
    error = 0.0
    for size, chance in enumerate(_binomial(locations, chosen).tolist()):  # of the circle
        if chance > NEGLIGIBLE:
            noise = math.sqrt((items - 1) * (size * singly + size**2 * squared))  # σ
            counts = torch.arange(size + 1, dtype=torch.float64)  # c₀
            wrong = torch.special.ndtr(-counts / noise) if noise > 0 else 0.5 * (counts == 0)
            error += chance * float(_binomial(size, float(among[distance])) @ wrong.double())
    return error


def _binomial(trials: int, chance: float = 0.5) -> Float[Tensor, "..."]:
    """The probabilities of 0 to ``trials`` successes."""
    count = torch.arange(trials + 1, dtype=torch.float64)
    ways = math.lgamma(trials + 1) - torch.lgamma(count + 1) - torch.lgamma(trials - count + 1)
    yes, no = torch.tensor([chance, 1 - chance], dtype=torch.float64)
    return (ways + torch.xlogy(count, yes) + torch.xlogy(trials - count, no)).exp()


def _check_bits(bits: Tensor) -> None:
    if not bool(((bits == 0) | (bits == 1)).all()):
        raise UserError("a sparse distributed memory works on zeros and ones: write (x > 0).float()")
