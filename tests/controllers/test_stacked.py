"""Controllers of several layers against torch.nn's, in a cell, and in halves of a sequence."""

import copy

import pytest
import torch

from mnemon import MANN, CachedUniformWriting, DNCMemory, LSTMController, MemoryCell, NoMemory, UserError
from mnemon.controllers import GRUController
from mnemon.controllers.stacked import Layers, StackedController


def test_layers_are_those_of_torch() -> None:
    torch.manual_seed(0)
    stacked = StackedController([LSTMController(3, 5), LSTMController(5, 5), LSTMController(5, 5)])
    rnn, twin = MANN(MemoryCell(stacked, NoMemory())), torch.nn.LSTM(3, 5, num_layers=3)
    with torch.no_grad():
        for number, layer in enumerate(stacked.layers):
            for name, weight in layer.named_parameters():
                getattr(twin, f"{name}_l{number}").copy_(weight)
    inputs = torch.randn(6, 2, 3)
    output, state = rnn(inputs)
    wanted, (hidden, cell) = twin(inputs)
    torch.testing.assert_close(output, wanted)
    torch.testing.assert_close(torch.stack([layer.hidden for layer in state.controller]), hidden)
    torch.testing.assert_close(torch.stack([layer.cell for layer in state.controller]), cell)


@pytest.mark.parametrize("writing", [None, CachedUniformWriting(2)])
def test_halves_are_the_whole_and_engines_agree(writing: CachedUniformWriting | None) -> None:
    torch.manual_seed(0)
    stacked = StackedController([GRUController(3, 4), GRUController(4, 4)])
    rnn = MANN(MemoryCell(stacked, DNCMemory(3, 2, 2), writing=writing, output_size=2)).double()
    inputs, lengths = torch.randn(6, 3, 3).double(), torch.tensor([6, 3, 0])
    output, state = rnn(inputs)
    first, half = rnn(inputs[:3])
    torch.testing.assert_close(torch.cat([first, rnn(inputs[3:], half)[0]]), output)
    rnn.engine = "reference"
    torch.testing.assert_close(rnn(inputs)[0], output)
    cut, after = rnn(inputs, lengths=lengths)
    torch.testing.assert_close(cut[:3, 1], output[:3, 1])
    torch.testing.assert_close(after.controller.hidden[1], half.controller.hidden[1])
    assert isinstance(copy.copy(state.controller), Layers)


def test_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="needs at least one layer"):
        StackedController([])
    with pytest.raises(UserError, match="layer 1 has 3 inputs and 4 hidden units"):
        StackedController([LSTMController(2, 4), LSTMController(3, 4)])
