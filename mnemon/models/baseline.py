"""Baselines without a memory: an LSTM, or any controller, with a linear read-out (thesis §3.1).

Letters: ``T`` time, ``B`` batch, ``I`` input, ``O`` output.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mnemon.controllers import Controller
from mnemon.initialisation import DNCRecipe
from mnemon.memory.base import check_sizes
from mnemon.state import where

LSTMBaselineState = tuple[Tensor, Tensor]


class LSTMBaseline(nn.Module):
    """nn.LSTM and nn.Linear behind the same call as a memory network.

    Args:
        input_size: I.
        hidden_size: of the LSTM.
        output_size: O.
    """

    def __init__(self, input_size: int, hidden_size: int, output_size: int) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size, output_size=output_size)
        self.rnn = nn.LSTM(input_size, hidden_size)
        self.readout = nn.Linear(hidden_size, output_size)

    def forward(
        self,
        inputs: Float[Tensor, "T B I"],
        state: LSTMBaselineState | None = None,
        *,
        lengths: Int[Tensor, "B"] | None = None,
    ) -> tuple[Float[Tensor, "T B O"], LSTMBaselineState]:
        """Run over a sequence; rows past their length output zero."""
        if lengths is None:
            hidden, state = self.rnn(inputs, state)
            return self.readout(hidden), state
        packed = pack_padded_sequence(inputs, lengths.cpu(), enforce_sorted=False)
        hidden, state = self.rnn(packed, state)
        padded, _ = pad_packed_sequence(hidden, total_length=inputs.shape[0])
        asked = (inputs.new_ones(inputs.shape[0], 1).cumsum(0) <= lengths).unsqueeze(2)
        return self.readout(padded) * asked, state


class ControllerBaseline(nn.Module):
    """A controller alone, behind the same call as a memory network.

    Args:
        controller: not yet part of a cell.
        output_size: O.
        bias: whether the read-out has one.
    """

    def __init__(self, controller: Controller[Any], output_size: int, *, bias: bool = True) -> None:
        super().__init__()
        controller.connect(0, DNCRecipe())
        self.controller = controller
        self.readout = nn.Linear(controller.hidden_size, output_size, bias=bias)

    def forward(
        self,
        inputs: Float[Tensor, "T B I"],
        state: Any = None,
        *,
        lengths: Int[Tensor, "B"] | None = None,
    ) -> tuple[Float[Tensor, "T B O"], Any]:
        """Run over a sequence; rows past their length stand still and output zero."""
        state = self.controller.init_state(inputs.shape[1]) if state is None else state
        outputs = [inputs.new_zeros(0, inputs.shape[1], self.readout.out_features)]
        for step, at_step in enumerate(inputs.unbind(0)):
            new = self.controller(at_step, state)
            state = new if lengths is None else where(lengths > step, new, state)
            output = self.readout(state.hidden)
            outputs.append((output if lengths is None else output * (lengths > step).unsqueeze(1)).unsqueeze(0))
        return torch.cat(outputs), state


def matching_hidden_size(parameters: int, input_size: int, output_size: int) -> int:
    """The smallest LSTM baseline with at least so many parameters: for comparisons on equal terms."""
    hidden = 1
    while _count(input_size, hidden, output_size) < parameters:
        hidden += 1
    return hidden


def _count(input_size: int, hidden: int, output_size: int) -> int:
    return 4 * hidden * (input_size + hidden + 2) + (hidden + 1) * output_size
