"""Holographic reduced representations (thesis §2.4.2): many pairs in one vector as long as each of them.

Letters: ``Q pairs, P probes, N size of keys, values and the trace``.

    m = Σ_k x^k ⊛ y^k           ⊗ multiplies moduli and adds phases, ⊕ is the sum
    ỹ = x⁻¹ ⊛ m = y + noise     •, with x⁻¹ = 1/x; for keys of modulus 1 it is the conjugate

That is the complex form. In the real one (Plate, 1995) ⊗ is circular convolution, z_j = Σ_i x_i y_{j−i}, which is the
complex form in the space of Fourier. There the approximate inverse, x*_i = x_{−i}, has the conjugate spectrum: decoding
with it is circular correlation, exact for keys whose spectrum has modulus 1 (:func:`unitary`).

Of Q pairs with keys of modulus 1 the noise has Q − 1 terms of variance 1 a unit of the values' power. :func:`clean_up`
takes the item that is nearest, which is what the thesis's auto-associative memory is for.

**Deviations.** None. Exact inverses are refused for keys with an element of modulus zero, which have none.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float, Int, Num
from torch import Tensor, einsum

from mnemon.errors import UserError


def random_phases(
    *shape: int, generator: torch.Generator | None = None, dtype: torch.dtype = torch.complex64
) -> Complex[Tensor, "..."]:
    """Vectors whose elements have modulus 1 and any phase, as keys should; drawn on the generator's device."""
    real = torch.zeros((), dtype=dtype).real.dtype
    device = torch.device("cpu") if generator is None else generator.device
    phases = 2 * math.pi * torch.rand(*shape, generator=generator, dtype=real, device=device)
    return torch.polar(torch.ones_like(phases), phases)


def exact_inverse(keys: Complex[Tensor, "*batch N"]) -> Complex[Tensor, "*batch N"]:
    """x⁻¹: moduli turned over, phases turned round."""
    if bool((keys == 0).any()):
        raise UserError("a key with an element of zero has no inverse: use keys of modulus 1, or the conjugate")
    return keys.reciprocal()


def convolve(x: Float[Tensor, "*batch N"], y: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N"]:
    """Circular convolution: ⊗ of the real form."""
    if x.numel() == 0:  # which libraries of Fourier transforms refuse
        return x * y
    convolved: Tensor = torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y), n=x.shape[-1])
    return convolved


def involution(keys: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N"]:
    """x*_i = x_{−i}: the approximate inverse of the real form."""
    return keys.flip(-1).roll(1, dims=-1)


def unitary(keys: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N"]:
    """The keys with all moduli of their spectrum made 1: for these the approximate inverse is exact."""
    spectrum = torch.fft.rfft(keys)
    if bool((spectrum == 0).any()):
        raise UserError("a key whose spectrum has a zero cannot be made unitary: draw keys at random")
    unit: Tensor = torch.fft.irfft(spectrum / spectrum.abs(), n=keys.shape[-1])
    return unit


def clean_up(noisy: Num[Tensor, "*batch P N"], items: Num[Tensor, "*batch M N"]) -> Int[Tensor, "*batch P"]:
    """Which of the items each is most alike, by the real part of the inner product."""
    return einsum("...pn,...mn->...pm", noisy, items.conj()).real.argmax(dim=-1)


@dataclass(frozen=True, kw_only=True)
class HolographicMemory:
    """The complex form; with ``conjugate`` keys are taken to have modulus 1, and never divided by."""

    conjugate: bool = True

    def encode(self, key: Complex[Tensor, "*batch N"], value: Complex[Tensor, "*batch N"]) -> Tensor:
        """⊗: element by element."""
        return key * value

    def compose(self, first: Complex[Tensor, "*batch N"], second: Complex[Tensor, "*batch N"]) -> Tensor:
        """⊕: the sum."""
        return first + second

    def store(
        self, keys: Complex[Tensor, "*batch Q N"], values: Complex[Tensor, "*batch Q N"]
    ) -> Complex[Tensor, "*batch N"]:
        """All pairs at once."""
        return einsum("...qn,...qn->...n", keys, values)

    def decode(
        self, keys: Complex[Tensor, "*batch P N"], trace: Complex[Tensor, "*batch N"]
    ) -> Complex[Tensor, "*batch P N"]:
        """•: by the inverse of the key."""
        inverse = keys.conj() if self.conjugate else exact_inverse(keys)
        return inverse * trace.unsqueeze(-2)


@dataclass(frozen=True, kw_only=True)
class ConvolutionMemory:
    """The real form, by circular convolution and correlation."""

    def encode(self, key: Float[Tensor, "*batch N"], value: Float[Tensor, "*batch N"]) -> Tensor:
        """⊗: circular convolution."""
        return convolve(key, value)

    def compose(self, first: Float[Tensor, "*batch N"], second: Float[Tensor, "*batch N"]) -> Tensor:
        """⊕: the sum."""
        return first + second

    def store(
        self, keys: Float[Tensor, "*batch Q N"], values: Float[Tensor, "*batch Q N"]
    ) -> Float[Tensor, "*batch N"]:
        """All pairs at once."""
        return convolve(keys, values).sum(dim=-2)

    def decode(
        self, keys: Float[Tensor, "*batch P N"], trace: Float[Tensor, "*batch N"]
    ) -> Float[Tensor, "*batch P N"]:
        """•: circular correlation, which is convolution with the approximate inverse."""
        return convolve(involution(keys), trace.unsqueeze(-2).expand_as(keys))
