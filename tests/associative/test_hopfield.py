import math

import pytest
import torch

from mnemon.associative.hopfield import (
    HopfieldMemory,
    crosstalk,
    energy,
    fields,
    hebbian_weights,
    is_spurious,
    one_step_error,
    settle,
    settled_error,
    update_all,
)
from mnemon.errors import UserError


def signs(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(seed)).double() * 2 - 1


def settle_by_loops(weights: torch.Tensor, state: torch.Tensor, order: list[int]) -> torch.Tensor:
    state = state.clone()
    for _ in range(1_000):
        before = state.clone()
        for unit in order:
            field = sum(float(weights[unit, other] * state[other]) for other in range(len(state)))
            state[unit] = state[unit] if field == 0 else math.copysign(1.0, field)
        if torch.equal(state, before):
            return state
    raise AssertionError("it went on for ever")


def test_weights_and_energy_against_loops() -> None:
    patterns, states = signs(3, 5), signs(2, 5, seed=1)
    weights = hebbian_weights(patterns)
    for i in range(5):
        for j in range(5):
            expected = 0.0 if i == j else sum(float(pattern[i] * pattern[j]) for pattern in patterns)
            assert weights[i, j] == expected
    for state, found in zip(states, energy(weights, states), strict=True):
        terms = [float(weights[i, j] * state[i] * state[j]) for i in range(5) for j in range(5)]
        assert found == -0.5 * sum(terms)


@pytest.mark.parametrize("units", [1, 2, 7, 20])
def test_settling_against_loops(units: int) -> None:
    patterns, probes = signs(2, 3, units), signs(2, 4, units, seed=1)
    weights = hebbian_weights(patterns)
    order = torch.randperm(units, generator=torch.Generator().manual_seed(2))
    settled = settle(weights, probes, order=order)
    assert settled.stable
    for network in range(2):
        for probe in range(4):
            expected = settle_by_loops(weights[network], probes[network, probe], order.tolist())
            assert torch.equal(settled.states[network, probe], expected)


def test_energy_never_rises_and_settled_states_stay() -> None:
    weights, states = hebbian_weights(signs(6, 30)), signs(8, 30, seed=1)
    last = energy(weights, states)
    for _ in range(100):
        states, _, stable = settle(weights, states, sweeps=1)
        assert (energy(weights, states) <= last).all()
        last = energy(weights, states)
        if stable:
            break
    assert stable
    assert torch.equal(settle(weights, states).states, states)
    assert settle(weights, states).sweeps == 0
    assert torch.equal(update_all(weights, states), states)


def test_all_at_once_may_never_end() -> None:
    """Two units that follow each other swap their signs for ever, where one after the other they settle."""
    weights, state = hebbian_weights(torch.ones(1, 2)), torch.tensor([[1.0, -1.0]])
    assert torch.equal(update_all(weights, state), -state)
    assert settle(weights, state).stable


def test_few_patterns_are_recalled_from_noise() -> None:
    patterns = signs(5, 200)
    noisy = patterns.clone()
    noisy[:, :30] *= -1
    memory = HopfieldMemory()
    assert torch.equal(memory.decode(noisy, memory.store(patterns, patterns)), patterns)


def test_crosstalk_is_what_the_field_has_beside_the_pattern() -> None:
    patterns = signs(2, 4, 9)
    full = torch.einsum("bqi,bqj->bij", patterns, patterns)
    torch.testing.assert_close(fields(full, patterns), 9 * patterns + crosstalk(patterns))
    kept = (patterns * crosstalk(patterns) > 4 - 9).all(dim=-1)  # the diagonal of the weights, 4, being left out
    stable = (update_all(hebbian_weights(patterns), patterns) == patterns).all(dim=-1)
    assert (stable | ~kept).all()
    assert crosstalk(signs(1, 9)).abs().max() == 0


def test_spurious_states() -> None:
    """The sign of the sum of three patterns is a minimum that nobody stored."""
    patterns = signs(3, 300)
    weights = hebbian_weights(patterns)
    mixture = settle(weights, patterns.sum(dim=0, keepdim=True).sign())
    assert mixture.stable
    assert is_spurious(mixture.states, patterns).all()
    assert not is_spurious(torch.cat([patterns, -patterns]), patterns).any()


def test_formulas() -> None:
    assert one_step_error(185, 1_000) == pytest.approx(0.01, rel=0.05)
    assert one_step_error(1, 1_000) == 0.0
    assert settled_error(0.1) == pytest.approx(0.001, rel=0.02)
    assert settled_error(0.1379) == pytest.approx(0.016, rel=0.1)
    assert math.isnan(settled_error(0.1385))
    assert settled_error(1e-3) < 1e-12


def test_without_change_the_state_is_kept_where_nothing_is_told() -> None:
    weights = torch.zeros(3, 3)
    state = torch.tensor([[1.0, -1.0, 1.0]])
    assert torch.equal(settle(weights, state).states, state)


def test_bad_input() -> None:
    weights, state = hebbian_weights(signs(2, 4)), signs(1, 4)
    with pytest.raises(UserError, match=r"units of a Hopfield network are \+1 or -1: write 2 \* bits - 1"):
        hebbian_weights(torch.zeros(2, 3))
    with pytest.raises(UserError, match="sweeps must be at least 1, got 0"):
        settle(weights, state, sweeps=0)
    with pytest.raises(UserError, match="order must name each of the 4 units once"):
        settle(weights, state, order=torch.tensor([0, 1, 2, 2]))
    with pytest.raises(UserError, match="stores patterns, not pairs"):
        HopfieldMemory().store(signs(2, 4), signs(2, 4, seed=1))
