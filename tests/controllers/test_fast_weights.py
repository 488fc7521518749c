"""The fast-weight RNN against a loop, and what its matrix holds."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import FastWeightController, UserError
from mnemon.controllers.fast_weights import associate

INPUT, HIDDEN, BATCH = 3, 4, 2


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def normalise(numbers: list[float], gain: list[float], bias: list[float]) -> list[float]:
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return [g * (x - mean) / math.sqrt(variance + 1e-5) + b for x, g, b in zip(numbers, gain, bias, strict=True)]


def step(
    controller: FastWeightController, inputs: list[float], hidden: list[float], fast: list[list[float]]
) -> tuple[list[float], list[list[float]]]:
    parameters = {name: part.tolist() for name, part in controller.named_parameters()}
    units = range(HIDDEN)
    sustained = [
        sum(w * x for w, x in zip(parameters["weight_ih"][i], inputs, strict=True))
        + sum(w * h for w, h in zip(parameters["weight_hh"][i], hidden, strict=True))
        + parameters["bias_ih"][i]
        + parameters["bias_hh"][i]
        for i in units
    ]
    refined = [max(0.0, x) for x in sustained]
    for _ in range(controller.refinements):
        mixed = [sustained[i] + sum(fast[i][j] * refined[j] for j in units) for i in units]
        refined = [max(0.0, x) for x in normalise(mixed, parameters["norm_gain"], parameters["norm_bias"])]
    new = [[controller.decay * fast[i][j] + controller.rate * refined[i] * refined[j] for j in units] for i in units]
    return refined, new


@pytest.mark.parametrize("options", [{}, {"refinements": 3, "decay": 0.5, "rate": 1.5}, {"decay": 0.0}], ids=str)
def test_steps_against_a_loop(options: dict[str, Any]) -> None:
    controller = FastWeightController(INPUT, HIDDEN, dtype=torch.float64, **options)
    with torch.no_grad():
        for parameter in controller.parameters():
            parameter.normal_()
    start = controller.init_state(BATCH)._replace(hidden=draw(BATCH, HIDDEN), fast=draw(BATCH, HIDDEN, HIDDEN))
    inputs, state = draw(4, BATCH, INPUT), start
    for x in inputs:
        state = controller(x, state)
    for sample in range(BATCH):
        hidden, fast = start.hidden[sample].tolist(), start.fast[sample].tolist()
        for x in inputs[:, sample].tolist():
            hidden, fast = step(controller, x, hidden, fast)
        torch.testing.assert_close(state.hidden[sample], draw(0).new_tensor(hidden))
        torch.testing.assert_close(state.fast[sample], draw(0).new_tensor(fast))


def test_the_matrix_is_a_decaying_sum_of_the_past() -> None:
    """A(t) h = η Σ_τ λ^{t−τ} h(τ) (h(τ)·h): attention to past states, without a softmax."""
    states, asked, decay, rate = draw(7, 1, HIDDEN), draw(1, HIDDEN), 0.9, 0.3
    fast = torch.zeros(1, HIDDEN, HIDDEN, dtype=torch.float64)
    for hidden in states:
        fast = associate(fast, hidden, decay, rate)
    weights = rate * decay ** torch.arange(6, -1, -1) * (states * asked).sum((1, 2))
    torch.testing.assert_close(torch.einsum("bij,bj->bi", fast, asked), (weights[:, None, None] * states).sum(0))
    torch.testing.assert_close(fast, fast.transpose(1, 2))


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4])
def test_hundreds_of_steps_stay_bounded(scale: float) -> None:
    controller = FastWeightController(INPUT, HIDDEN, refinements=2)
    state = controller.init_state(1)
    for x in scale * torch.randn(300, 1, INPUT):
        state = controller(x, state)
    assert state.hidden.abs().max() <= math.sqrt(HIDDEN) + 1e-4
    assert state.fast.abs().max() <= controller.rate * HIDDEN / (1 - controller.decay) + 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decay": 1.0}, "decay must be in [0, 1), got 1.0"),
        ({"decay": float("nan")}, "decay must be in [0, 1), got nan"),
        ({"rate": 0.0}, "rate must be above 0, got 0.0"),
        ({"refinements": 0}, "refinements must be at least 1, got 0"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        FastWeightController(INPUT, HIDDEN, **options)
    assert str(raised.value) == message
