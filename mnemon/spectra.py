"""Recurrent matrices of a given spectral radius: what the theory of transient memory and reservoirs start from.

Letters: ``N`` units.

The spectral radius ρ(W) = max |λ_i| decides whether a trace in x(n) = W x(n−1) dies out in the end (ρ < 1). What it
does before depends on more: a normal matrix, W Wᵀ = Wᵀ W, shrinks every trace from the first step on, any other may
first let it grow.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError


def spectral_radius(matrix: Float[Tensor, "N N"]) -> float:
    """ρ(W), the largest magnitude of an eigenvalue."""
    return float(torch.linalg.eigvals(matrix.detach()).abs().max())


def rescaled(matrix: Float[Tensor, "N N"], radius: float) -> Float[Tensor, "N N"]:
    """The same with another radius."""
    found = spectral_radius(matrix)
    if found < 1e-9:
        raise UserError(f"{len(matrix)} units have no loop to carry a memory: take more units, or a higher density")
    return matrix * (radius / found)


def random_matrix(
    size: int, radius: float, generator: torch.Generator, *, density: float = 1.0
) -> Float[Tensor, "size size"]:
    """Gaussian numbers, of which only a share ``density`` is not zero, scaled to the radius; not normal."""
    _check(size, radius)
    if not 0 < density <= 1:
        raise UserError(f"density must be above 0 and at most 1, got {density}")
    drawn = torch.randn(size, size, generator=generator, dtype=torch.float64)
    kept = torch.rand(size, size, generator=generator, dtype=torch.float64) < density
    return rescaled(torch.where(kept, drawn, 0.0), radius)


def orthogonal_matrix(size: int, radius: float, generator: torch.Generator) -> Float[Tensor, "size size"]:
    """The radius times a rotation, drawn evenly from all: normal, and every trace shrinks alike."""
    _check(size, radius)
    drawn = torch.randn(size, size, generator=generator, dtype=torch.float64)
    basis, upper = torch.linalg.qr(drawn)
    rotation: Tensor = basis * upper.diagonal().sign()  # without the signs some would be drawn oftener
    return radius * rotation


def symmetric_matrix(size: int, radius: float, generator: torch.Generator) -> Float[Tensor, "size size"]:
    """Gaussian, with Wᵀ = W, scaled to the radius: normal, with real eigenvalues of all sizes."""
    _check(size, radius)
    drawn = torch.randn(size, size, generator=generator, dtype=torch.float64)
    return rescaled((drawn + drawn.T) / 2, radius)


def delay_line(size: int, power: float) -> Float[Tensor, "size size"]:
    """Each unit hands on to the next √α times what it held: as far from normal as can be, with radius 0.

    ``power`` is α, by which the power of a signal changes at each step.
    """
    if size < 1 or not 0 < power < math.inf:
        raise UserError(f"a delay line needs a size of at least 1 and a power above 0, got {size} and {power}")
    links = torch.full((size - 1,), math.sqrt(power), dtype=torch.float64)
    return torch.diag(links, diagonal=-1)


def _check(size: int, radius: float) -> None:
    if size < 1:
        raise UserError(f"size must be at least 1, got {size}")
    if not 0 <= radius < math.inf:
        raise UserError(f"radius must be finite and at least 0, got {radius}")
