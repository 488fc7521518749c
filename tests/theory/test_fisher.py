"""The Fisher memory curve against long sums, its laws, and a simulation."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon import spectra
from mnemon.errors import UserError
from mnemon.theory import fisher

several = settings(deadline=None, max_examples=30, derandomize=True)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def unit_feed(size: int, seed: int = 1) -> Tensor:
    feed = torch.randn(size, generator=generator(seed), dtype=torch.float64)
    return feed / feed.square().sum().sqrt()


def first_unit(size: int) -> Tensor:
    return torch.eye(size, dtype=torch.float64)[0]


def long_sum(recurrent: Tensor, feed: Tensor, ages: int, noise: float, terms: int = 400) -> list[float]:
    """J(k) as it is written, with the sum over j term by term and every product in loops over units."""
    size = len(feed)
    units = range(size)

    def times(left: list[list[float]], right: list[list[float]]) -> list[list[float]]:
        return [[sum(left[i][m] * right[m][j] for m in units) for j in units] for i in units]

    matrix = recurrent.tolist()
    power = torch.eye(size).tolist()
    covariance, responses = torch.zeros(size, size).tolist(), []
    for term in range(terms):
        if term < ages:
            responses.append([sum(power[i][m] * feed[m].item() for m in units) for i in units])
        for i in units:
            for j in units:
                covariance[i][j] += noise * sum(power[i][m] * power[j][m] for m in units)
        power = times(matrix, power)
    inverse = torch.tensor(covariance, dtype=torch.float64).inverse().tolist()
    return [sum(r[i] * inverse[i][j] * r[j] for i in units for j in units) for r in responses]


NETWORKS: dict[str, Tensor] = {
    "random": spectra.random_matrix(3, 0.9, generator()),
    "rotation": spectra.orthogonal_matrix(3, 0.9, generator()),
    "symmetric": spectra.symmetric_matrix(3, 0.9, generator()),
    "delay line": spectra.delay_line(3, 2.0),
    "one unit": torch.tensor([[0.8]], dtype=torch.float64),
    "no recurrence": torch.zeros(3, 3, dtype=torch.float64),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_curve_is_the_long_sum(name: str) -> None:
    recurrent = NETWORKS[name]
    feed = unit_feed(len(recurrent))
    curve = fisher.memory_curve(recurrent, feed, 8, noise=0.3)
    assert curve.tolist() == pytest.approx(long_sum(recurrent, feed, 8, noise=0.3), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
def test_covariance_solves_the_lyapunov_equation(name: str) -> None:
    recurrent = NETWORKS[name]
    covariance = fisher.noise_covariance(recurrent, noise=0.3)
    source = 0.3 * torch.eye(len(recurrent), dtype=torch.float64)
    torch.testing.assert_close(covariance, recurrent @ covariance @ recurrent.T + source, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("make", [spectra.orthogonal_matrix, spectra.symmetric_matrix])
def test_normal_form_agrees_with_the_general_one(make: Callable[..., Tensor], size: int) -> None:
    recurrent, feed = make(size, 0.95, generator()), 3 * unit_feed(size)
    general = fisher.memory_curve(recurrent, feed, 20, noise=0.5)
    torch.testing.assert_close(fisher.normal_memory_curve(recurrent, feed, 20, noise=0.5), general)


@several
@given(st.integers(1, 8), st.floats(0.0, 0.99), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_a_normal_network_has_one_unit_of_memory(size: int, radius: float, noise: float, seed: int) -> None:
    recurrent = spectra.symmetric_matrix(size, radius, generator(seed))
    total = fisher.total_memory(recurrent, unit_feed(size, seed), noise)
    assert total == pytest.approx(1 / noise, rel=1e-9)
    curve = fisher.memory_curve(recurrent, unit_feed(size, seed), 30, noise)
    assert (curve >= 0).all()
    assert (curve[1:] <= curve[:-1] * (1 + 1e-9) + 1e-300).all()  # and never rises
    assert curve.sum() <= total * (1 + 1e-9)


@several
@given(st.integers(1, 8), st.floats(0.0, 0.99), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_no_network_has_more_than_its_units(size: int, radius: float, noise: float, seed: int) -> None:
    """Nor has any more than 1/ε on average over the directions in which a signal may enter."""
    recurrent = spectra.random_matrix(size, radius, generator(seed))
    totals = [fisher.total_memory(recurrent, feed, noise) for feed in torch.eye(size, dtype=torch.float64)]
    assert max(totals) <= size / noise * (1 + 1e-9)
    assert math.fsum(totals) == pytest.approx(size / noise, rel=1e-6)


def test_total_is_the_sum_of_the_curve() -> None:
    recurrent, feed = NETWORKS["random"], unit_feed(3)
    assert fisher.total_memory(recurrent, feed, 0.2) == pytest.approx(
        fisher.memory_curve(recurrent, feed, 300, 0.2).sum()
    )


@pytest.mark.parametrize("power", [0.5, 1.0, 4.0])
def test_delay_line_has_a_closed_form(power: float) -> None:
    line = spectra.delay_line(10, power)
    curve = fisher.memory_curve(line, first_unit(10), 14, noise=0.4)
    torch.testing.assert_close(fisher.delay_line_curve(10, power, 14, noise=0.4), curve)
    by_hand = [1 / (0.4 * sum(power**-j for j in range(k + 1))) if k < 10 else 0.0 for k in range(14)]
    assert curve.tolist() == pytest.approx(by_hand)


def test_an_amplifying_delay_line_beats_every_normal_network() -> None:
    plain, amplifying = (fisher.total_memory(spectra.delay_line(20, power), first_unit(20)) for power in (1.0, 4.0))
    assert plain == pytest.approx(math.fsum(1 / (k + 1) for k in range(20)))
    assert 1 < plain < amplifying < 20
    assert amplifying > 15


def test_memory_function_is_the_share_a_read_out_explains() -> None:
    """Against the normal equations of a read-out from a long series of states."""
    recurrent, feed, noise = NETWORKS["random"], unit_feed(3), 0.2
    source, steps, ages = generator(), 6_000, 5
    signal = torch.randn(steps, generator=source, dtype=torch.float64)
    shocks = noise**0.5 * torch.randn(steps, 3, generator=source, dtype=torch.float64)
    state, states = torch.zeros(3, dtype=torch.float64), []
    for value, shock in zip(signal, shocks, strict=True):
        state = recurrent @ state + feed * value + shock
        states.append(state)
    late = torch.stack(states)[100:]
    explained = []
    for age in range(ages):
        target = signal[100 - age : steps - age]
        cross = late.T @ target / len(late)
        explained.append((cross @ torch.linalg.solve(late.T @ late / len(late), cross)).item())
    assert fisher.memory_function(recurrent, feed, ages, noise).tolist() == pytest.approx(explained, abs=0.04)


@pytest.mark.parametrize("noise", [1e-6, 0.1, 10.0])
def test_memory_function_sums_to_the_units_at_most(noise: float) -> None:
    recurrent = spectra.random_matrix(6, 0.9, generator())
    total = fisher.memory_function(recurrent, unit_feed(6), 400, noise).sum()
    assert total < 6
    if noise < 1e-5:
        assert total > 4.5


@pytest.mark.parametrize("name", ["random", "rotation", "delay line", "one unit"])
def test_simulation_finds_the_curve(name: str) -> None:
    recurrent = NETWORKS[name]
    feed = unit_feed(len(recurrent))
    measured = fisher.measured_memory_curve(recurrent, feed, 5, noise=0.3, trajectories=4000, generator=generator())
    expected = fisher.memory_curve(recurrent, feed, 5, noise=0.3)
    torch.testing.assert_close(measured, expected, rtol=0.12, atol=1e-9)  # five standard errors, √(2/4000)
    assert not torch.equal(measured, expected)


@pytest.mark.usefixtures("unchecked")
def test_simulation_is_without_bias_where_trajectories_are_few() -> None:
    """The inverse of a covariance from 12 samples of 3 numbers is 11/7 too large before it is corrected."""
    recurrent, feed, source = NETWORKS["no recurrence"], unit_feed(3), generator()
    trials = [
        fisher.measured_memory_curve(recurrent, feed, 1, trajectories=12, generator=source).item() for _ in range(80)
    ]
    assert math.fsum(trials) / 80 == pytest.approx(1, rel=0.25)


def test_saturating_units_forget_sooner_where_noise_drives_them_far() -> None:
    recurrent, feed = NETWORKS["rotation"], unit_feed(3)

    def squashed(noise: float) -> Tensor:
        return fisher.measured_memory_curve(
            recurrent, feed, 12, noise=noise, activation=torch.tanh, pulse=1e-6, generator=generator()
        )

    quiet = fisher.memory_curve(recurrent, feed, 12, noise=1e-6)
    torch.testing.assert_close(squashed(1e-6), quiet, rtol=0.12, atol=0)  # near 0 tanh is linear
    assert squashed(1.0)[-1] < 0.1 * fisher.memory_curve(recurrent, feed, 12, noise=1.0)[-1]


@pytest.mark.usefixtures("unchecked")
def test_gradients_of_the_curve() -> None:
    """So that a network can be made to remember by gradient ascent."""
    recurrent, feed = NETWORKS["random"].clone().requires_grad_(), unit_feed(3).requires_grad_()
    for curve in (fisher.memory_curve, fisher.memory_function):
        assert torch.autograd.gradcheck(lambda w, v, curve=curve: curve(w, v, 3, noise=0.5), (recurrent, feed))


def test_a_radius_just_below_one() -> None:
    recurrent = torch.tensor([[1 - 1e-9]], dtype=torch.float64)
    assert fisher.memory_curve(recurrent, torch.ones(1, dtype=torch.float64), 1).item() == pytest.approx(2e-9, rel=1e-6)


def test_single_precision_is_taken() -> None:
    recurrent, feed = NETWORKS["random"], unit_feed(3)
    curve = fisher.memory_curve(recurrent.float(), feed.float(), 5)
    torch.testing.assert_close(curve, fisher.memory_curve(recurrent, feed, 5), rtol=1e-5, atol=1e-7)


def ring(radius: float) -> Tensor:
    return radius * torch.eye(3, dtype=torch.float64).roll(1, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fisher.memory_curve(ring(1.0), unit_feed(3), 4), "spectral radius must be below 1"),
        (lambda: fisher.total_memory(ring(1.5), unit_feed(3)), "below 1, got 1.5: scale the matrix by 0.95/1.5"),
        (lambda: fisher.memory_curve(ring(0.5), unit_feed(2), 4), "2 feed weights do not fit a recurrent matrix of"),
        (lambda: fisher.memory_curve(ring(0.5), unit_feed(3), 0), "ages must be at least 1, got 0"),
        (lambda: fisher.noise_covariance(ring(0.5), 0.0), "noise must be above 0, got 0.0"),
        (lambda: fisher.noise_covariance(ring(math.nan)), "must hold finite numbers"),
        (lambda: fisher.normal_memory_curve(spectra.delay_line(3, 1.0), unit_feed(3), 4), "take memory_curve"),
        (lambda: fisher.noise_covariance(spectra.delay_line(9, 1e90)), "too large for float64"),
        (
            lambda: fisher.measured_memory_curve(ring(0.5), unit_feed(3), 4, trajectories=5, generator=generator()),
            "trajectories must be at least 6 for 3 units, got 5",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_input_is_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError) as raised:
        call()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
