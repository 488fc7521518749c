"""The baseline without a memory: an LSTM with a linear read-out (thesis §3.1.1).

Letters: ``T`` time, ``B`` batch, ``I`` input, ``O`` output.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mnemon.memory.base import check_sizes

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


def matching_hidden_size(parameters: int, input_size: int, output_size: int) -> int:
    """The smallest LSTM baseline with at least so many parameters: for comparisons on equal terms."""
    hidden = 1
    while _count(input_size, hidden, output_size) < parameters:
        hidden += 1
    return hidden


def _count(input_size: int, hidden: int, output_size: int) -> int:
    return 4 * hidden * (input_size + hidden + 2) + (hidden + 1) * output_size
