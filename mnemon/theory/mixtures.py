"""Gaussians and mixtures of them: divergences, products, and the timestep-wise bound (thesis §5.3.4 and its appendix).

Letters: ``Z`` latent dimensions, ``K`` modes, ``T`` timesteps, ``X`` points of a grid.

All Gaussians have diagonal covariances. Between a Gaussian f and a mixture g = Σ_i π_i g_i the divergence has no closed
form; Hershey and Olsen's (2007) variational one,

    D_var(f ‖ g) = −log Σ_i π_i exp(−KL(f ‖ g_i)),

is never below it (theorem 5.1). It is computed by logsumexp, so that divergences of thousands do not underflow, and a
mode of weight 0 has log π = −∞ and takes no part.

Deviations: the covariance of a product is (Σ₁⁻¹ + Σ₂⁻¹)⁻¹; the appendix prints its inverse. Between two mixtures D_var
is an approximation and no bound, as Hershey and Olsen say.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mnemon.errors import UserError

LOG_TWO_PI = math.log(2 * math.pi)


class Gaussian(NamedTuple):
    """N(μ, diag σ²)."""

    mean: Float[Tensor, "*batch Z"]  # μ
    sd: Float[Tensor, "*batch Z"]  # σ > 0


class Mixture(NamedTuple):
    """Σ_i π_i N(μ_i, diag σ_i²)."""

    log_weights: Float[Tensor, "*batch K"]  # log π_i
    mean: Float[Tensor, "*batch K Z"]  # μ_i
    sd: Float[Tensor, "*batch K Z"]  # σ_i > 0

    @property
    def modes(self) -> Gaussian:
        """The Gaussians by themselves."""
        return Gaussian(self.mean, self.sd)

    @property
    def weights(self) -> Float[Tensor, "*batch K"]:
        """π_i."""
        return self.log_weights.exp()


class ScaledGaussian(NamedTuple):
    """c N(μ, diag σ²), such as a product of Gaussians."""

    log_scale: Float[Tensor, "*batch"]  # log c
    gaussian: Gaussian


class ScaledMixture(NamedTuple):
    """C Σ_i π_i N(μ_i, diag σ_i²), such as a product of mixtures."""

    log_scale: Float[Tensor, "*batch"]  # log C
    mixture: Mixture


class Drawn(NamedTuple):
    """A sample of a mixture, and the mode that it came from."""

    value: Float[Tensor, "*batch Z"]
    mode: Int[Tensor, "*batch"]


def log_weights(weights: Float[Tensor, "*batch K"]) -> Float[Tensor, "*batch K"]:
    """log π_i, −∞ where the weight is 0; a weight of 0 has no gradient rather than one that is not a number."""
    positive = weights > 0
    return torch.where(positive, torch.where(positive, weights, 1.0).log(), -math.inf)


def one_mode(gaussian: Gaussian) -> Mixture:
    """A Gaussian as the mixture of itself."""
    return Mixture(gaussian.mean.new_zeros(*gaussian.mean.shape[:-1], 1), *(part.unsqueeze(-2) for part in gaussian))


def gaussian_divergence(first: Gaussian, second: Gaussian) -> Float[Tensor, "*batch"]:
    """KL(f ‖ g) = ½ Σ_z [(σ_f/σ_g)² + ((μ_f − μ_g)/σ_g)² − 1] − log(σ_f/σ_g)."""
    ratio = first.sd / second.sd
    apart = (first.mean - second.mean) / second.sd
    return (0.5 * (ratio.square() + apart.square() - 1) - ratio.log()).sum(-1)


def divergence(first: Gaussian, second: Mixture) -> Float[Tensor, "*batch"]:
    """D_var(f ‖ g) of a Gaussian from a mixture; with one mode, KL itself."""
    spread = Gaussian(*(part.unsqueeze(-2) for part in first))
    return -torch.logsumexp(second.log_weights - gaussian_divergence(spread, second.modes), dim=-1)


def divergence_of_mixtures(first: Mixture, second: Mixture) -> Float[Tensor, "*batch"]:
    """D_var(f ‖ g) = Σ_j π_j [D_var(f_j ‖ g) − D_var(f_j ‖ f)]."""
    each = first.modes

    def from_each(mixture: Mixture) -> Float[Tensor, "*batch J"]:
        return divergence(each, Mixture(*(part.unsqueeze(part.dim() - extra) for part, extra in _parts(mixture))))

    return (first.weights * (from_each(second) - from_each(first))).sum(-1)


def _parts(mixture: Mixture) -> list[tuple[Tensor, int]]:
    """Each part, and how many axes of its own it has after those of the batch."""
    return [(mixture.log_weights, 1), (mixture.mean, 2), (mixture.sd, 2)]


def log_density(distribution: Gaussian | Mixture, points: Float[Tensor, "... Z"]) -> Float[Tensor, "..."]:
    """The log-density of a Gaussian or of a mixture at a point; points and distributions broadcast."""
    if isinstance(distribution, Gaussian):
        score = (points - distribution.mean) / distribution.sd
        return -(0.5 * (score.square() + LOG_TWO_PI) + distribution.sd.log()).sum(-1)
    each = log_density(distribution.modes, points.unsqueeze(-2))
    return torch.logsumexp(distribution.log_weights + each, dim=-1)


def sample_gaussian(gaussian: Gaussian, generator: torch.Generator | None = None) -> Float[Tensor, "*batch Z"]:
    """μ + σ ε: reparameterised, so that gradients reach μ and σ."""
    mean, sd = gaussian
    return mean + sd * torch.randn(mean.shape, generator=generator, device=mean.device, dtype=mean.dtype)


def sample_mixture(mixture: Mixture, generator: torch.Generator | None = None) -> Drawn:
    """Draw a mode by its weight, then a value from it."""
    weights = mixture.weights
    mode = torch.multinomial(weights.reshape(-1, weights.shape[-1]), 1, generator=generator)
    return sample_mode(mixture, mode.view(weights.shape[:-1]), generator)


def sample_mode(mixture: Mixture, mode: Int[Tensor, "*batch"], generator: torch.Generator | None = None) -> Drawn:
    """Draw from the modes that are named."""
    index = mode[..., None, None].expand(*mode.shape, 1, mixture.mean.shape[-1])
    chosen = Gaussian(*(part.gather(-2, index).squeeze(-2) for part in mixture.modes))
    return Drawn(sample_gaussian(chosen, generator), mode)


def product_of_gaussians(first: Gaussian, second: Gaussian) -> ScaledGaussian:
    """The product of two densities: c = N(μ₁; μ₂, Σ₁ + Σ₂), Σ = (Σ₁⁻¹ + Σ₂⁻¹)⁻¹, μ = Σ (Σ₁⁻¹ μ₁ + Σ₂⁻¹ μ₂)."""
    both = torch.hypot(first.sd, second.sd)
    share = (first.sd / both).square()  # of the second mean: Σ₁ / (Σ₁ + Σ₂)
    mean = torch.lerp(first.mean, second.mean, share)
    scale = log_density(Gaussian(second.mean, both), first.mean)
    return ScaledGaussian(scale, Gaussian(mean, first.sd * (second.sd / both)))


def product_of_mixtures(first: Mixture, second: Mixture) -> ScaledMixture:
    """The product of two mixtures, a scaled mixture of K₁ K₂ modes."""
    left = Gaussian(*(part.unsqueeze(-2) for part in first.modes))  # … K₁ 1 Z
    right = Gaussian(*(part.unsqueeze(-3) for part in second.modes))  # … 1 K₂ Z
    scales, (mean, sd) = product_of_gaussians(left, right)
    weights = (first.log_weights.unsqueeze(-1) + second.log_weights.unsqueeze(-2) + scales).flatten(-2)
    log_scale = torch.logsumexp(weights, dim=-1)
    return ScaledMixture(
        log_scale, Mixture(weights - log_scale.unsqueeze(-1), mean.flatten(-3, -2), sd.flatten(-3, -2))
    )


def product(mixtures: Sequence[Mixture]) -> ScaledMixture:
    """The product of T mixtures, by induction: a scaled mixture of Π_t K_t modes."""
    if not mixtures:
        raise UserError("a product needs at least one mixture")
    first = ScaledMixture(mixtures[0].log_weights.new_zeros(mixtures[0].log_weights.shape[:-1]), mixtures[0])

    def multiply(so_far: ScaledMixture, factor: Mixture) -> ScaledMixture:
        more, mixture = product_of_mixtures(so_far.mixture, factor)
        return ScaledMixture(so_far.log_scale + more, mixture)

    return reduce(multiply, mixtures[1:], first)


def total_divergence(
    log_posteriors: Float[Tensor, "T X"], log_priors: Float[Tensor, "T X"], spacing: float
) -> Float[Tensor, ""]:
    """Σ_t KL(f_t ‖ g_t), summed over a grid of points, each standing for so much of the line."""
    return (log_posteriors.exp() * (log_posteriors - log_priors)).sum() * spacing


def timestep_bound(
    log_posteriors: Float[Tensor, "T X"], log_product: Float[Tensor, "X"], spacing: float
) -> Float[Tensor, ""]:
    """Σ_t ∫ f_t log f_t − 1/T ∫ Σ_t f_t log Π_t g_t, by Chebyshev's sum inequality at least Σ_t KL(f_t ‖ g_t).

    It is where :func:`same_order` holds at every point; without that it may be below.
    """
    densities = log_posteriors.exp()
    entropies = (densities * log_posteriors).sum()
    return (entropies - densities.mean(0) @ log_product) * spacing


def same_order(posteriors: Float[Tensor, "T X"], priors: Float[Tensor, "T X"]) -> Bool[Tensor, "X"]:
    """Where f_i(x) ≤ f_j(x) goes with g_i(x) ≤ g_j(x), for all timesteps i and j: what the bound assumes."""
    above = (posteriors.unsqueeze(0) - posteriors.unsqueeze(1)).sign()
    return (above * (priors.unsqueeze(0) - priors.unsqueeze(1)).sign() >= 0).all(0).all(0)
