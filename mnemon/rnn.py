"""A memory cell over a sequence, with the manners of nn.LSTM.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``O`` output.
"""

from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.state import map_state

Sequence = TypeVar("Sequence", Tensor, PackedSequence)


class MANN(nn.Module):
    """Memory-augmented neural network: a cell unrolled over time.

    ``output, state = rnn(x)`` and ``output, state = rnn(more_x, state)``: a sequence in two parts gives what it gives
    whole. Input is (T, B, I), (T, I), with ``batch_first`` (B, T, I), or a PackedSequence; the output is likewise.

    Args:
        cell: one step.
        batch_first: whether batched tensors are (B, T, ·).
    """

    def __init__(self, cell: MemoryCell, *, batch_first: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.batch_first = batch_first

    def reset_parameters(self) -> None:
        """Initialise the cell anew."""
        self.cell.reset_parameters()

    def forward(
        self, inputs: Sequence, state: CellState | None = None, *, lengths: Int[Tensor, "B"] | None = None
    ) -> tuple[Sequence, CellState]:
        """Run over a sequence.

        Args:
            inputs: the sequences.
            state: where to go on from; by default the cell's initial state.
            lengths: how many steps of each row count; past them a row neither writes nor advances, and its output is
                zero. A PackedSequence carries its own.
        """
        if isinstance(inputs, PackedSequence):
            if lengths is not None:
                raise UserError("a PackedSequence carries its lengths: leave out lengths")
            padded, lengths = pad_packed_sequence(inputs)
            output, state = self._run(padded, state, lengths)
            packed = pack_padded_sequence(output, lengths, enforce_sorted=False)
            # the given order of rows, not that of a new sort
            order = inputs.sorted_indices, inputs.unsorted_indices
            return PackedSequence(packed.data, inputs.batch_sizes, *order), state
        self.cell.check_input(inputs, dimensions=(2, 3))
        if inputs.dim() == 2:
            unbatched_state = None if state is None else map_state(lambda part: part.unsqueeze(0), state)
            output, state = self._run(inputs.unsqueeze(1), unbatched_state, lengths)
            return output.squeeze(1), map_state(lambda part: part.squeeze(0), state)
        if self.batch_first:
            output, state = self._run(inputs.transpose(0, 1), state, lengths)
            return output.transpose(0, 1), state
        return self._run(inputs, state, lengths)

    def _run(
        self, inputs: Float[Tensor, "T B I"], state: CellState | None, lengths: Int[Tensor, "rows"] | None
    ) -> tuple[Float[Tensor, "T B O"], CellState]:
        steps, batch, _ = inputs.shape
        if state is None:
            state = self.cell.init_state(batch)
        elif (given := state.controller.hidden.shape[0]) != batch:
            raise UserError(f"expected a state for a batch of {batch}, got one for {given}")
        active = None if lengths is None else _active(lengths.to(inputs.device), steps, batch)
        features = []
        for step, at_step in enumerate(inputs.unbind(0)):
            row_active = None if active is None else active[step]
            feature, state = self.cell.step(at_step, state, row_active)
            features.append(feature)
        stacked = torch.stack(features) if features else inputs.new_zeros(0, batch, self.cell.feature_size)
        output = self.cell.readout(stacked)
        if active is not None:
            output = output * active.unsqueeze(2)
        return output, state

    def extra_repr(self) -> str:
        """What differs from the defaults."""
        return "batch_first=True" if self.batch_first else ""


def _active(lengths: Int[Tensor, "rows"], steps: int, batch: int) -> Bool[Tensor, "T B"]:
    """Which rows still count at each step."""
    if lengths.shape != (batch,):
        raise UserError(f"expected lengths of shape ({batch},), got {tuple(lengths.shape)}")
    if not torch.compiler.is_compiling() and not ((lengths >= 0) & (lengths <= steps)).all():
        raise UserError(f"lengths must lie between 0 and {steps}, got {lengths.tolist()}")
    return torch.arange(steps, device=lengths.device).unsqueeze(1) < lengths
