"""Fisher memory curve: how much a recurrent network knows of a signal k steps ago (thesis §2.3.2, “Memory trace of
recurrent networks”; Ganguli, Huh and Sompolinsky, 2008).

Letters: ``N`` units, ``K`` ages of the signal, ``M`` trajectories.

A signal s(n) enters a noisy linear network, x(n) = W x(n−1) + v s(n) + z(n), where z is white noise of variance ε. The
Fisher information that x(n) holds about s(n−k) is

    J(k) = vᵀ Wᵏᵀ C⁻¹ Wᵏ v,   C = ε Σ_j Wʲ Wʲᵀ,

where C, the covariance of what the noise leaves in the state, solves C = W C Wᵀ + ε I. For a normal W it is
J(k) = 1/ε Σ_i |v_i|² |λ_i|²ᵏ (1 − |λ_i|²), with v in the basis of eigenvectors. The whole memory, J_tot = Σ_k J(k), is
then ‖v‖²/ε, whatever the size of the network. No network has more than N ‖v‖²/ε, and only networks that are not normal
get above the first: a delay line that amplifies comes near the second.

Deviations: the thesis sums over k where its equation needs an index of its own, and leaves out the factor 1/ε and the
basis in the normal case. The equation holds for linear f, the identity here; :func:`measured_memory_curve` takes any f,
and then measures the linear Fisher information, a lower bound.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.spectra import spectral_radius

DOUBLINGS = 60  # 2⁶⁰ terms of a sum: enough for every radius that float64 can tell from 1
SETTLED = 1e-4  # of a past whose trace is below this, less than its square is left in a covariance


def noise_covariance(recurrent: Float[Tensor, "N N"], noise: float = 1.0) -> Float[Tensor, "N N"]:
    """C = ε Σ_j Wʲ Wʲᵀ, all terms of it."""
    _check_network(recurrent, noise)
    return noise * _sum_of_traces(recurrent.double(), torch.eye(recurrent.shape[0], dtype=torch.float64))


def memory_curve(
    recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"], ages: int, noise: float = 1.0
) -> Float[Tensor, "ages"]:
    """J(0) … J(ages − 1) of a linear network, by the covariance of its noise.

    Args:
        recurrent: W, of spectral radius below 1.
        feed: v, how the signal enters.
        ages: for how many k.
        noise: ε.
    """
    _check_feed(recurrent, feed)
    return _information(_responses(recurrent, feed, ages), noise_covariance(recurrent, noise))


def normal_memory_curve(
    recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"], ages: int, noise: float = 1.0
) -> Float[Tensor, "ages"]:
    """J(0) … J(ages − 1) of a normal network, by its eigenvalues.

    WᵀW has the eigenvalues |λ_i|² and an orthonormal real basis, also where those of W itself coincide.
    """
    _check_network(recurrent, noise)
    _check_feed(recurrent, feed)
    matrix = recurrent.double()
    if not torch.allclose(matrix @ matrix.T, matrix.T @ matrix, atol=1e-9):
        raise UserError("the matrix is not normal (W Wᵀ ≠ Wᵀ W): take memory_curve, which needs no eigenvectors")
    squares, basis = torch.linalg.eigh(matrix.T @ matrix)  # |λ_i|²
    weights = (basis.T @ feed.double()).square() * (1 - squares)
    powers = squares.clamp(min=0) ** _ages(ages)[:, None]
    return torch.einsum("kn,n->k", powers, weights) / noise


def delay_line_curve(size: int, power: float, ages: int, noise: float = 1.0) -> Float[Tensor, "ages"]:
    """J(k) of a delay line fed at its first unit: 1/ε 1/(1 + α⁻¹ + … + α⁻ᵏ), and 0 from k = N on."""
    sums = torch.cumsum(torch.tensor(power, dtype=torch.float64) ** -_ages(ages), dim=0)
    return torch.where(_ages(ages) < size, 1 / (noise * sums), 0.0)


def total_memory(recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"], noise: float = 1.0) -> float:
    """J_tot = Σ_k J(k), to infinity: the trace of C⁻¹ Σ_k Wᵏ v vᵀ Wᵏᵀ."""
    _check_feed(recurrent, feed)
    covariance = noise_covariance(recurrent, noise)
    signal = _sum_of_traces(recurrent.double(), torch.outer(feed, feed).double())
    return torch.cholesky_solve(signal, _factor(covariance)).trace().item()


def memory_function(
    recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"], ages: int, noise: float = 1.0
) -> Float[Tensor, "ages"]:
    """m(k), the squared correlation of s(n−k) with the best linear read-out of x(n), for white s of variance 1.

    J(k) in which the signal's own past is noise too (Jaeger, 2002). Its sum is at most N.
    """
    _check_feed(recurrent, feed)
    signal = _sum_of_traces(recurrent.double(), torch.outer(feed, feed).double())
    return _information(_responses(recurrent, feed, ages), noise_covariance(recurrent, noise) + signal)


def measured_memory_curve(
    recurrent: Float[Tensor, "N N"],
    feed: Float[Tensor, "N"],
    ages: int,
    *,
    generator: torch.Generator,
    noise: float = 1.0,
    trajectories: int = 4000,
    activation: Callable[[Tensor], Tensor] = lambda net: net,
    pulse: float = 1e-3,
) -> Float[Tensor, "ages"]:
    """J(k) without a formula: noisy networks run, and what a pulse does to them is weighed by their spread.

    x(n) = f(W x(n−1) + v s(n) + z(n)). The same noise goes to a network that gets a pulse up and to one that gets it
    down, so that for linear f their difference has no noise. The inverse of the sample covariance is corrected for its
    bias.

    Args:
        recurrent: W.
        feed: v.
        ages: for how many k.
        generator: of the noise.
        noise: ε.
        trajectories: networks that run side by side; the error falls as the root of their number.
        activation: f.
        pulse: the size of the signal; small for an f that is not linear.
    """
    _check_network(recurrent, noise)
    _check_feed(recurrent, feed)
    size = recurrent.shape[0]
    if trajectories < size + 3:
        raise UserError(f"trajectories must be at least {size + 3} for {size} units, got {trajectories}")
    matrix, vector = recurrent.double(), feed.double()

    def step(state: Tensor, signal: float, shock: Tensor) -> Tensor:
        return activation(state @ matrix.T + vector * signal + shock)

    def shock() -> Float[Tensor, "M N"]:
        return math.sqrt(noise) * torch.randn(trajectories, size, generator=generator, dtype=torch.float64)

    state = torch.zeros(trajectories, size, dtype=torch.float64)
    for _ in range(_settling_steps(matrix)):
        state = step(state, 0.0, shock())
    up = down = state
    curve = []
    for age in range(ages):
        signal, common = pulse * (age == 0), shock()
        up, down, state = step(up, signal, common), step(down, -signal, common), step(state, 0.0, common)
        response = (up - down).mean(0) / (2 * pulse)
        bias = (trajectories - 1) / (trajectories - size - 2)  # of the inverse of a Wishart matrix
        curve.append(_information(response[:, None], torch.cov(state.T).reshape(size, size)) / bias)
    return torch.cat(curve)


def _sum_of_traces(matrix: Float[Tensor, "N N"], source: Float[Tensor, "N N"]) -> Float[Tensor, "N N"]:
    """Σ_j Wʲ S Wʲᵀ, doubling the number of terms at each step: the solution of the discrete Lyapunov equation."""
    total, power = source, matrix
    for _ in range(DOUBLINGS):
        rest = power @ total @ power.T
        total, power = total + rest, power @ power
        if not rest.isfinite().all():
            raise UserError("what the network makes of its noise is too large for float64: make its gain smaller")
        if rest.abs().max() <= 1e-18 * total.abs().max():
            return total
    raise UserError("the network keeps its noise for ever: its spectral radius must be below 1 by more than rounding")


def _responses(recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"], ages: int) -> Float[Tensor, "N ages"]:
    """v, W v, W² v, …: what is left of a pulse."""
    if ages < 1:
        raise UserError(f"ages must be at least 1, got {ages}")
    traces = [feed.double()]
    for _ in range(ages - 1):
        traces.append(recurrent.double() @ traces[-1])
    return torch.stack(traces, dim=1)


def _information(responses: Float[Tensor, "N K"], covariance: Float[Tensor, "N N"]) -> Float[Tensor, "K"]:
    """rᵀ C⁻¹ r of each column, as a square, so that it is never below 0."""
    whitened: Tensor = torch.linalg.solve_triangular(_factor(covariance), responses, upper=False)
    return whitened.square().sum(0)


def _factor(covariance: Float[Tensor, "N N"]) -> Float[Tensor, "N N"]:
    factor: Tensor
    factor, failed = torch.linalg.cholesky_ex(covariance)
    if failed:
        raise UserError("the noise differs too much between directions for float64: take a smaller gain or fewer units")
    return factor


def _settling_steps(matrix: Float[Tensor, "N N"]) -> int:
    """After how many steps nothing of the past is left, counted in powers of two."""
    steps = 1
    while matrix.norm() > SETTLED:
        steps, matrix = 2 * steps, matrix @ matrix
    return steps


def _ages(ages: int) -> Float[Tensor, "ages"]:
    if ages < 1:
        raise UserError(f"ages must be at least 1, got {ages}")
    return torch.arange(ages, dtype=torch.float64)


def _check_network(recurrent: Float[Tensor, "N N"], noise: float) -> None:
    if not 0 < noise < math.inf:
        raise UserError(f"noise must be above 0, got {noise}: without noise every memory is perfect")
    if not recurrent.isfinite().all():
        raise UserError("the recurrent matrix must hold finite numbers")
    radius = spectral_radius(recurrent)
    if radius >= 1:
        raise UserError(f"the spectral radius must be below 1, got {radius:.4g}: scale the matrix by 0.95/{radius:.4g}")


def _check_feed(recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"]) -> None:
    if recurrent.shape != (feed.shape[0], feed.shape[0]):
        raise UserError(f"{feed.shape[0]} feed weights do not fit a recurrent matrix of shape {tuple(recurrent.shape)}")
