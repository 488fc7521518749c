"""Interfaces that are normalised, against their equation written out as a loop."""

import math

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from mnemon import (
    MANN,
    DNCMemory,
    LinearInterface,
    LSTMController,
    MemoryCell,
    NormalisedInterface,
    NTMMemory,
    StoredProgramInterface,
    UserError,
    record_trace,
)
from mnemon.initialisation import DNCRecipe
from mnemon.interface import Interface
from mnemon.models.config import ModelConfig
from tests.parts import random_input

HIDDEN, SIZES = 5, [3, 4]


def connected(interface: Interface) -> NormalisedInterface:
    """One with gains and biases of its own, in float64."""
    torch.manual_seed(0)
    made = NormalisedInterface(interface)
    made.connect(HIDDEN, SIZES, DNCRecipe(), torch.empty(0, dtype=torch.float64))
    with torch.no_grad():
        made.norm_gain.normal_()
        made.norm_bias.normal_()
    return made


def slow(numbers: list[float], gain: list[float], bias: list[float]) -> list[float]:
    mean = sum(numbers) / len(numbers)
    deviation = math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers) + 1e-5)
    return [g * (number - mean) / deviation + b for number, g, b in zip(numbers, gain, bias, strict=True)]


@pytest.mark.parametrize("inner", [LinearInterface(), StoredProgramInterface(3, 3)], ids=["linear", "programs"])
def test_the_vector_is_normalised_as_a_whole(inner: Interface) -> None:
    interface, hidden = connected(inner), random_input(4, HIDDEN)
    steering = interface.steer(hidden)
    plain = inner.steer(hidden)
    for row, expected in zip(steering.vector.tolist(), plain.vector.tolist(), strict=True):
        assert row == pytest.approx(slow(expected, interface.norm_gain.tolist(), interface.norm_bias.tolist()))
    assert torch.equal(interface(hidden), steering.vector)
    assert (steering.programs is None) == (plain.programs is None)
    assert interface.losses().keys() == inner.losses().keys()


def test_gradients() -> None:
    interface = connected(StoredProgramInterface(2, 2, query_bias=False))
    names = [name for name, _ in interface.named_parameters()]

    def run(hidden: Tensor, *parameters: Tensor) -> Tensor:
        vector: Tensor = torch.func.functional_call(interface, dict(zip(names, parameters, strict=True)), hidden)
        return vector

    assert gradcheck(run, (random_input(3, HIDDEN).requires_grad_(), *interface.parameters()))


def test_it_begins_as_the_family_does_with_gains_of_one_and_no_biases() -> None:
    interface = connected(LinearInterface())
    interface.reset_parameters()
    assert torch.equal(interface.norm_gain, torch.ones_like(interface.norm_gain))
    assert not interface.norm_bias.any()
    vector = interface(random_input(6, HIDDEN))
    torch.testing.assert_close(vector.mean(1), torch.zeros(6, dtype=torch.float64), rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1e4])
def test_extremes_stay_numbers_and_so_do_gradients(scale: float) -> None:
    for memory in (DNCMemory(1, 2), NTMMemory(1, 2)):
        interface = NormalisedInterface(LinearInterface())
        rnn = MANN(MemoryCell(LSTMController(3, HIDDEN), memory, interface=interface, output_size=2))
        output, _ = rnn(scale * torch.randn(6, 2, 3))
        output.sum().backward()
        assert output.isfinite().all()
        assert all(part.grad is None or part.grad.isfinite().all() for part in rnn.parameters())


def test_its_programs_are_traced() -> None:
    interface = NormalisedInterface(StoredProgramInterface(3, 3))
    rnn = MANN(MemoryCell(LSTMController(3, HIDDEN), DNCMemory(4, 2), interface=interface, output_size=2))
    with record_trace(rnn) as trace:
        rnn(torch.randn(6, 2, 3))
    assert trace.programs.shape[:2] == (6, 2)
    assert trace.programs.shape[-1] == 3


@pytest.mark.parametrize("name", ["lstm", "dcw-mann", "memn2n"])
def test_a_model_without_an_interface_cannot_normalise_it(name: str) -> None:
    with pytest.raises(UserError, match="no interface to normalise: leave out normalised"):
        ModelConfig(name=name, normalised=True)
