"""The read-out in closed form, and what can be read from a reservoir."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mnemon.errors import UserError
from mnemon.reservoir import EchoStateNetwork, LiquidStateMachine, ReservoirConfig, fit_readout, memory_capacity
from tests.parts import random_input


def normal_equations(states: Tensor, targets: Tensor, ridge: float) -> tuple[Tensor, Tensor]:
    """(Xᵀ X + ridge D)⁻¹ Xᵀ Y with a column of ones, which pays no ridge; sums in loops."""
    rows = [[*row, 1.0] for row in states.tolist()]
    size = len(rows[0])
    gram = [[sum(row[i] * row[j] for row in rows) for j in range(size)] for i in range(size)]
    for i in range(size - 1):
        gram[i][i] += ridge
    cross = [
        [
            sum(row[i] * wanted[o] for row, wanted in zip(rows, targets.tolist(), strict=True))
            for o in range(targets.shape[1])
        ]
        for i in range(size)
    ]
    solved = torch.linalg.solve(torch.tensor(gram, dtype=torch.float64), torch.tensor(cross, dtype=torch.float64))
    return solved[:-1].T, solved[-1]


@pytest.mark.parametrize("ridge", [1e-8, 0.1, 100.0])
@pytest.mark.parametrize("steps", [1, 3, 30])  # fewer than units, and more
def test_readout_solves_the_normal_equations(steps: int, ridge: float) -> None:
    states, targets = random_input(steps, 5), random_input(steps, 2, seed=2) + 3
    layer = fit_readout(states, targets, ridge=ridge)
    weight, bias = normal_equations(states, targets, ridge)
    torch.testing.assert_close(layer.weight.detach(), weight, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(layer.bias.detach(), bias, rtol=1e-5, atol=1e-6)


def test_readout_has_no_gradient_left() -> None:
    """At the least cost nothing changes to first order, whichever weight moves."""
    states, targets = random_input(20, 4), random_input(20, 3, seed=2)
    layer = fit_readout(states, targets, ridge=0.5)
    cost = (layer(states) - targets).square().sum() + 0.5 * layer.weight.square().sum()
    for gradient in torch.autograd.grad(cost, list(layer.parameters())):
        assert gradient.abs().max() < 1e-10


def test_readout_finds_a_linear_law_over_steps_and_batch() -> None:
    states = random_input(6, 7, 4)
    law, shift = random_input(2, 4, seed=2), random_input(2, seed=3)
    layer = fit_readout(states, states @ law.T + shift, ridge=1e-12)
    torch.testing.assert_close(layer.weight.detach(), law)
    torch.testing.assert_close(layer.bias.detach(), shift)


def test_readout_of_states_that_never_change_is_the_mean() -> None:
    layer = fit_readout(torch.ones(4, 3), torch.tensor([[1.0], [2.0], [3.0], [6.0]]))
    assert layer(torch.ones(1, 3)).item() == pytest.approx(3)
    assert layer.weight.dtype == torch.float32


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def network(units: int, scale: float, linear: bool = False) -> EchoStateNetwork:
    config = ReservoirConfig(units=units, radius=0.8, density=1.0, input_scale=scale, seed=1)
    return EchoStateNetwork(1, config, linear=linear, dtype=torch.float64)


@pytest.mark.usefixtures("unchecked")
def test_capacity_is_at_most_the_number_of_units_and_most_where_nothing_is_squashed() -> None:
    linear, gentle, hard = (
        memory_capacity(each, 30, generator=generator(), steps=600).sum()
        for each in (network(6, 0.1, linear=True), network(6, 0.1), network(6, 3.0))
    )
    chance = 30 / 600  # of each age a step's share, though there is nothing to read
    assert 5.5 < linear < 6 + 3 * chance
    assert gentle < 6 + 3 * chance
    assert hard < gentle - 0.5


@pytest.mark.usefixtures("unchecked")
def test_the_last_inputs_are_read_best() -> None:
    curve = memory_capacity(network(12, 0.1), 25, generator=generator(), steps=500)
    assert ((curve >= 0) & (curve <= 1 + 1e-12)).all()
    assert curve[0] > 0.99
    assert curve[20:].max() < 0.5


@pytest.mark.usefixtures("unchecked")
def test_a_liquid_keeps_what_it_was_told() -> None:
    """Spiking neurons, too, can be asked for an input of some steps ago."""
    config = ReservoirConfig(units=100, radius=0.8, density=0.1, input_scale=3.0)
    machine = LiquidStateMachine(1, config, membrane=0.3, dtype=torch.float64)
    curve = memory_capacity(machine, 6, generator=generator(), steps=800, ridge=0.1)
    assert curve[0] > 0.6
    assert curve[2] > 0.15
    assert curve[5] < 0.1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_readout(torch.ones(3, 2), torch.ones(3, 1), ridge=0.0), "ridge must be above 0, got 0.0: write a"),
        (lambda: fit_readout(torch.ones(3, 2), torch.ones(4, 1)), r"the same steps, at least one, got \(3, 2\) and"),
        (lambda: fit_readout(torch.ones(0, 2), torch.ones(0, 1)), "at least one"),
        (
            lambda: memory_capacity(
                EchoStateNetwork(2, ReservoirConfig(units=9, density=1.0)), 3, generator=generator()
            ),
            "memory capacity is that of one input, this reservoir has 2",
        ),
        (lambda: memory_capacity(network(5, 0.1), 3, washout=1, generator=generator()), "washout at least ages − 1"),
    ],
)
def test_bad_input_says_what_to_write(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()
