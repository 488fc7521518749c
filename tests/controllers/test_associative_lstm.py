"""The associative LSTM against complex numbers of Python's, and what its copies are for."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import AssociativeLSTMController, UserError
from mnemon.controllers.associative_lstm import bound, multiply, permute

INPUT, HIDDEN, BATCH, COPIES = 3, 6, 2, 3
UNITS = HIDDEN // 2


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def bounded(number: complex) -> complex:
    return number / max(1, abs(number))


def step(
    controller: AssociativeLSTMController, inputs: list[float], hidden: list[float], traces: list[list[complex]]
) -> tuple[list[float], list[list[complex]]]:
    parameters = {name: part.tolist() for name, part in controller.named_parameters()}
    net = [
        sum(w * x for w, x in zip(parameters["weight_ih"][row], inputs, strict=True))
        + sum(w * h for w, h in zip(parameters["weight_hh"][row], hidden, strict=True))
        + parameters["bias_ih"][row]
        + parameters["bias_hh"][row]
        for row in range(9 * UNITS)
    ]

    def gate(number: int) -> list[float]:
        return [sigmoid(x) for x in net[number * UNITS : (number + 1) * UNITS]]

    def vector(first: int) -> list[complex]:
        return [bounded(complex(net[first * UNITS + k], net[(first + 1) * UNITS + k])) for k in range(UNITS)]

    forget, enter, leave = gate(0), gate(1), gate(2)
    key, inverse_key, value = vector(3), vector(5), vector(7)
    permutations = controller.permutations.tolist()
    new = [
        [forget[k] * trace[k] + key[permuted[k]] * enter[k] * value[k] for k in range(UNITS)]
        for trace, permuted in zip(traces, permutations, strict=True)
    ]
    retrieved = [
        sum(inverse_key[permuted[k]] * trace[k] for trace, permuted in zip(new, permutations, strict=True)) / COPIES
        for k in range(UNITS)
    ]
    output = [leave[k] * bounded(retrieved[k]) for k in range(UNITS)]
    return [number.real for number in output] + [number.imag for number in output], new


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_steps_against_a_loop(scale: float) -> None:
    controller = AssociativeLSTMController(INPUT, HIDDEN, copies=COPIES, dtype=torch.float64)
    with torch.no_grad():
        for parameter in controller.parameters():
            parameter.normal_(std=scale)
    start = controller.init_state(BATCH)._replace(hidden=draw(BATCH, HIDDEN), traces=draw(BATCH, COPIES, 2, UNITS))
    inputs, state = draw(4, BATCH, INPUT), start
    for x in inputs:
        state = controller(x, state)
    for sample in range(BATCH):
        hidden = start.hidden[sample].tolist()
        traces = [[complex(*pair) for pair in trace.T.tolist()] for trace in start.traces[sample]]
        for x in inputs[:, sample].tolist():
            hidden, traces = step(controller, x, hidden, traces)
        torch.testing.assert_close(state.hidden[sample], draw(0).new_tensor(hidden))
        real, imaginary = state.traces[sample].unbind(1)
        torch.testing.assert_close(torch.complex(real, imaginary), torch.tensor(traces, dtype=torch.complex128))


def test_multiplying_adds_phases() -> None:
    left, right = draw(5, 2, 4), draw(5, 2, 4)
    expected = torch.complex(*left.unbind(1)) * torch.complex(*right.unbind(1))
    torch.testing.assert_close(torch.complex(*multiply(left, right).unbind(1)), expected)


def test_bound_keeps_what_is_within_the_circle() -> None:
    numbers = torch.tensor([[[0.0, 0.3, 3.0, 1e4], [0.0, -0.4, -4.0, 0.0]]], requires_grad=True)
    torch.testing.assert_close(bound(numbers), torch.tensor([[[0.0, 0.3, 0.6, 1.0], [0.0, -0.4, -0.8, 0.0]]]))
    assert torch.autograd.grad(bound(numbers).sum(), numbers)[0].isfinite().all()


UNITS_OF_THE_MEMORY = 64


def retrieval_error(items: int, copies: int, units: int = UNITS_OF_THE_MEMORY) -> float:
    """The mean squared error of a value asked for with the conjugate of its key, all moduli being one."""
    phases = 2 * math.pi * torch.rand(2, items, units, dtype=torch.float64)
    keys, values = torch.stack([phases.cos(), phases.sin()], dim=2)  # each: items 2 units
    permutations = torch.stack([torch.randperm(units) for _ in range(copies)])
    traces = multiply(permute(keys, permutations), values.unsqueeze(1)).sum(0, keepdim=True)
    inverse = keys * torch.tensor([1.0, -1.0], dtype=torch.float64).unsqueeze(1)
    retrieved = multiply(permute(inverse, permutations), traces).mean(1)
    return float((retrieved - values).square().sum(1).mean())


@pytest.mark.parametrize(("items", "copies"), [(1, 1), (1, 5), (9, 1), (9, 8), (33, 16)])
def test_noise_falls_with_the_copies(items: int, copies: int) -> None:
    """Each of the Q − 1 other items adds a number of modulus one and random phase, averaged over S copies.

    Two copies have the same noise in a unit that their permutations take from the same place: in one of K.
    """
    errors = [retrieval_error(items, copies) for _ in range(20)]
    expected = (items - 1) / copies * (1 + (copies - 1) / UNITS_OF_THE_MEMORY)
    assert sum(errors) / 20 == pytest.approx(expected, rel=0.1, abs=1e-12)


def test_permutations_are_constant_and_saved() -> None:
    controller, other = (AssociativeLSTMController(INPUT, 40, copies=2) for _ in range(2))
    assert "permutations" in controller.state_dict()
    assert all(sorted(row) == list(range(20)) for row in controller.permutations.tolist())
    assert not torch.equal(controller.permutations, other.permutations)
    other.load_state_dict(controller.state_dict())
    assert torch.equal(controller.permutations, other.permutations)
    before = controller.permutations.clone()
    controller.reset_parameters()
    assert not torch.equal(controller.permutations, before)


def test_huge_inputs_stay_within_the_circle() -> None:
    controller = AssociativeLSTMController(INPUT, HIDDEN)
    state = controller.init_state(1)
    for x in 1e4 * torch.randn(50, 1, INPUT):
        state = controller(x, state)
        assert state.hidden.isfinite().all()
        assert all(abs(complex(*pair)) <= 1 + 1e-6 for pair in state.hidden.view(2, UNITS).T.tolist())
    assert state.traces.isfinite().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": 5}, "hidden_size of an associative LSTM must be even, got 5: half of it are imaginary parts"),
        ({"copies": 0}, "copies must be at least 1, got 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        AssociativeLSTMController(INPUT, options.get("hidden", HIDDEN), copies=options.get("copies", 4))
    assert str(raised.value) == message
