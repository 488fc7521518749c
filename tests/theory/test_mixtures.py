"""Mixtures against Monte Carlo, against densities on a grid, and at extremes."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon.errors import UserError
from mnemon.theory import mixtures
from mnemon.theory.mixtures import Gaussian, Mixture

several = settings(deadline=None, max_examples=25, derandomize=True)
seeds = st.integers(0, 10_000)
counts = st.integers(1, 5)


def draw_mixture(seed: int, modes: int, latent: int, spread: float = 2.0) -> Mixture:
    generator = torch.Generator().manual_seed(seed)

    def randn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    weights = torch.softmax(randn(modes), dim=0)
    return Mixture(weights.log(), spread * randn(modes, latent), (0.5 * randn(modes, latent)).exp())


def draw_gaussian(seed: int, latent: int) -> Gaussian:
    mixture = draw_mixture(seed, 1, latent, spread=1.0)
    return Gaussian(mixture.mean[0], mixture.sd[0])


def grid() -> tuple[Tensor, float]:
    points = torch.linspace(-30, 30, 6001, dtype=torch.float64)
    return points.unsqueeze(1), 60 / 6000


@several
@given(seeds, counts)
def test_divergence_of_gaussians_is_the_sum_written_out(seed: int, latent: int) -> None:
    first, second = draw_gaussian(seed, latent), draw_gaussian(seed + 1, latent)
    total = 0.0
    for mean, sd, other_mean, other_sd in zip(*(part.tolist() for part in (*first, *second)), strict=True):
        total += math.log(other_sd / sd) + (sd**2 + (mean - other_mean) ** 2) / (2 * other_sd**2) - 0.5
    assert float(mixtures.gaussian_divergence(first, second)) == pytest.approx(total, rel=1e-9)


@several
@given(seeds, counts)
def test_with_one_mode_the_bound_is_the_divergence(seed: int, latent: int) -> None:
    first, second = draw_gaussian(seed, latent), draw_gaussian(seed + 1, latent)
    exact = mixtures.gaussian_divergence(first, second)
    torch.testing.assert_close(mixtures.divergence(first, mixtures.one_mode(second)), exact)
    both = mixtures.divergence_of_mixtures(mixtures.one_mode(first), mixtures.one_mode(second))
    torch.testing.assert_close(both, exact)


@several
@given(seeds, counts, counts)
def test_the_bound_is_never_below_the_divergence(seed: int, modes: int, latent: int) -> None:
    """Theorem 5.1, by Monte Carlo: the estimate less four of its standard errors."""
    first, second = draw_gaussian(seed, latent), draw_mixture(seed + 1, modes, latent)
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(4_000, latent, generator=generator, dtype=torch.float64)
    points = first.mean + first.sd * noise
    ratios = mixtures.log_density(first, points) - mixtures.log_density(second, points)
    least = ratios.mean() - 4 * ratios.std() / math.sqrt(len(ratios))
    assert mixtures.divergence(first, second) >= least


def test_the_bound_is_above_where_modes_overlap() -> None:
    """Two equal modes are one: the bound is exact. Two that overlap are a wider one: it is not."""
    standard = Gaussian(torch.zeros(1), torch.ones(1))
    halves = torch.tensor([0.5, 0.5]).log()
    same = Mixture(halves, torch.zeros(2, 1), torch.ones(2, 1))
    torch.testing.assert_close(mixtures.divergence(standard, same), torch.zeros(()))
    apart = Mixture(halves, torch.tensor([[-1.0], [1.0]]), torch.ones(2, 1))
    points, spacing = torch.linspace(-12, 12, 4801).unsqueeze(1), 24 / 4800
    log_f = mixtures.log_density(standard, points)
    exact = (log_f.exp() * (log_f - mixtures.log_density(apart, points))).sum() * spacing
    assert mixtures.divergence(standard, apart) > exact + 0.1


@several
@given(seeds, counts, counts)
def test_divergence_of_mixtures_written_out(seed: int, modes: int, latent: int) -> None:
    first, second = draw_mixture(seed, modes, latent), draw_mixture(seed + 1, 6 - modes, latent)

    def near(mode: int, mixture: Mixture) -> float:
        total = 0.0
        for other in range(len(mixture.weights)):
            pair = [Gaussian(each.mean[i], each.sd[i]) for each, i in ((first, mode), (mixture, other))]
            total += float(mixture.weights[other]) * math.exp(-float(mixtures.gaussian_divergence(*pair)))
        return math.log(total)

    wanted = sum(float(first.weights[mode]) * (near(mode, first) - near(mode, second)) for mode in range(modes))
    assert float(mixtures.divergence_of_mixtures(first, second)) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    assert float(mixtures.divergence_of_mixtures(first, first)) == pytest.approx(0, abs=1e-9)


@several
@given(seeds, st.lists(counts, min_size=1, max_size=3))
def test_products_are_scaled_mixtures(seed: int, modes: list[int]) -> None:
    """Densities multiplied on a grid; and the scale is the integral of the product."""
    factors = [draw_mixture(seed + number, count, 1) for number, count in enumerate(modes)]
    log_scale, mixture = mixtures.product(factors)
    assert mixture.mean.shape == (math.prod(modes), 1)
    points, spacing = grid()
    wanted = torch.stack([mixtures.log_density(factor, points) for factor in factors]).sum(0)
    torch.testing.assert_close(log_scale + mixtures.log_density(mixture, points), wanted, rtol=1e-9, atol=1e-7)
    torch.testing.assert_close(wanted.exp().sum() * spacing, log_scale.exp(), rtol=1e-6, atol=1e-12)
    torch.testing.assert_close(mixture.weights.sum(), torch.ones((), dtype=torch.float64))


def test_the_product_of_equal_gaussians_is_narrower() -> None:
    """Σ = (Σ₁⁻¹ + Σ₂⁻¹)⁻¹, not its inverse, as printed."""
    wide = Gaussian(torch.zeros(1), torch.full((1,), 2.0))
    assert float(mixtures.product_of_gaussians(wide, wide).gaussian.sd) == pytest.approx(math.sqrt(2))


@several
@given(seeds, st.integers(1, 4))
def test_the_timestep_bound_holds_in_the_same_order(seed: int, steps: int) -> None:
    """Priors that order the timesteps as the posteriors do at every point: the posteriors themselves, blurred alike."""
    points, spacing = grid()
    posteriors = torch.stack([mixtures.log_density(draw_gaussian(seed + step, 1), points) for step in range(steps)])
    priors = 0.5 * posteriors - 1.0
    assert mixtures.same_order(posteriors.exp(), priors.exp()).all()
    total = mixtures.total_divergence(posteriors, priors, spacing)
    assert mixtures.timestep_bound(posteriors, priors.sum(0), spacing) >= total - 1e-9


def test_the_timestep_bound_needs_the_same_order() -> None:
    """Two timesteps, each prior where the other's posterior is: the bound is below the divergence."""
    points, spacing = grid()
    left, right = (Gaussian(torch.full((1,), mean), torch.ones(1)) for mean in (-2.0, 2.0))
    posteriors = torch.stack([mixtures.log_density(each, points) for each in (left, right)])
    swapped = [mixtures.one_mode(right), mixtures.one_mode(left)]
    priors = torch.stack([mixtures.log_density(each, points) for each in swapped])
    assert not mixtures.same_order(posteriors.exp(), priors.exp()).all()
    log_scale, mixture = mixtures.product(swapped)
    product = log_scale + mixtures.log_density(mixture, points)
    total = mixtures.total_divergence(posteriors, priors, spacing)
    assert float(total) == pytest.approx(16, rel=1e-3)
    assert float(mixtures.timestep_bound(posteriors, product, spacing)) == pytest.approx(8, rel=1e-3)
    as_they_are = mixtures.timestep_bound(posteriors, posteriors.sum(0), spacing)
    assert as_they_are >= mixtures.total_divergence(posteriors, posteriors, spacing)


@pytest.mark.parametrize("modes", [1, 3])
def test_gradients_are_those_of_finite_differences(modes: int) -> None:
    first, second = draw_gaussian(0, 2), draw_mixture(1, modes, 2)
    parts = [part.clone().requires_grad_() for part in (*first, *second)]

    def bound(mean: Tensor, sd: Tensor, weights: Tensor, means: Tensor, sds: Tensor) -> Tensor:
        return mixtures.divergence(Gaussian(mean, sd), Mixture(torch.log_softmax(weights, dim=0), means, sds))

    assert torch.autograd.gradcheck(bound, parts)


def test_a_mode_without_weight_takes_no_part() -> None:
    weights = torch.tensor([0.25, 0.0, 0.75], requires_grad=True)
    mean, sd = torch.tensor([[0.0], [5.0], [1.0]]), torch.ones(3, 1)
    first = Gaussian(torch.zeros(1, requires_grad=True), torch.ones(1))
    found = mixtures.divergence(first, Mixture(mixtures.log_weights(weights), mean, sd))
    kept = [0, 2]
    alone = mixtures.divergence(first, Mixture(weights[kept].log(), mean[kept], sd[kept]))
    torch.testing.assert_close(found, alone)
    found.backward()  # type: ignore[no-untyped-call]
    assert weights.grad is not None
    assert weights.grad.isfinite().all()
    assert weights.grad[1] == 0
    drawn = mixtures.sample_mixture(
        Mixture(mixtures.log_weights(weights.detach()).expand(200, 3), *(part.expand(200, 3, 1) for part in (mean, sd)))
    )
    assert set(drawn.mode.tolist()) == {0, 2}


def test_extremes_stay_finite() -> None:
    narrow = Gaussian(torch.full((2,), 1e4), torch.full((2,), 1e-6))
    wide = Gaussian(torch.full((2,), -1e4), torch.ones(2))
    for first, second in ((narrow, wide), (wide, narrow), (narrow, narrow)):
        prior = Mixture(mixtures.log_weights(torch.tensor([1.0, 0.0])), *(part.expand(2, 2) for part in second))
        mean = first.mean.clone().requires_grad_()
        found = mixtures.divergence(Gaussian(mean, first.sd), prior)
        assert found.isfinite()
        assert found >= 0
        found.backward()  # type: ignore[no-untyped-call]
        assert mean.grad is not None
        assert mean.grad.isfinite().all()
        assert all(part.isfinite().all() for part in mixtures.product_of_gaussians(first, second).gaussian)


def test_samples_come_from_their_modes_by_weight() -> None:
    means = torch.tensor([[-100.0], [0.0], [100.0]])
    one = Mixture(torch.tensor([0.5, 0.2, 0.3]).log(), means, torch.ones(3, 1))
    many = Mixture(*(part.expand(5_000, *part.shape) for part in one))
    drawn = mixtures.sample_mixture(many, torch.Generator().manual_seed(0))
    torch.testing.assert_close(drawn.mode.bincount() / 5_000, one.weights, rtol=0, atol=0.03)
    assert ((drawn.value - means[drawn.mode]).abs() < 6).all()
    again = mixtures.sample_mixture(many, torch.Generator().manual_seed(0))
    assert torch.equal(again.value, drawn.value)
    only = mixtures.sample_mode(many, torch.full((5_000,), 2), torch.Generator().manual_seed(0))
    assert (only.value > 90).all()


def test_no_factors() -> None:
    with pytest.raises(UserError, match="a product needs at least one mixture"):
        mixtures.product([])
