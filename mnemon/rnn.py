"""A memory cell over a sequence, with the manners of nn.LSTM.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``F`` features, ``O`` output.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.checkpoint import checkpoint

from mnemon import trace
from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.memory.base import Advance, advance_in_torch, check_sizes
from mnemon.native import engine as native
from mnemon.native.operator import rows_that_count
from mnemon.state import map_state

Sequence = TypeVar("Sequence", Tensor, PackedSequence)
Engine = Literal["auto", "native", "reference"]

AT_ONCE = 1024  # steps, where no gradient is asked for


class EngineUsed(NamedTuple):
    """Which engine ran, and why that one."""

    name: str
    why: str


def choose_engine(
    asked: Engine, why_not: Callable[[], str | None], why_no_step: Callable[[], str | None]
) -> EngineUsed:
    """The engine to run on, by why the kernels cannot run all of it, or not even the memory's steps."""
    if asked == "reference":
        return EngineUsed("reference", "asked for")
    reason = why_not()
    if reason is None:
        return EngineUsed("native", "covers this cell")
    if asked == "native":
        raise UserError(f"the native engine cannot run this: {reason}; write engine='auto' or 'reference'")
    if why_no_step() is None and not torch.compiler.is_compiling():
        return EngineUsed("native memory", reason)
    native.notice_if_not_built()
    return EngineUsed("reference", reason)


class Output(NamedTuple):
    """What a network gives that is asked for its losses as well."""

    output: Tensor | PackedSequence
    state: CellState
    losses: dict[str, Tensor]  # what it adds to the loss of training, by name


class MANN(nn.Module):
    """Memory-augmented neural network: a cell unrolled over time.

    ``output, state = rnn(x)`` and ``output, state = rnn(more_x, state)``: a sequence in two parts gives what it gives
    whole. Input is (T, B, I), (T, I), with ``batch_first`` (B, T, I), or a PackedSequence; the output is likewise.

    Args:
        cell: one step.
        batch_first: whether batched tensors are (B, T, ·).
        engine: "native" runs the whole sequence in compiled kernels, "reference" step by step in PyTorch, "auto" in the
            kernels where they cover the cell, and at least the memory's steps where they cover the memory. All give the
            same; ``engine_used`` tells which ran last, and why.
        replay: where gradients are asked for, keep the state after every so many steps and nothing else; the steps
            between are run again in the backward pass. A sequence of any length then trains in the memory of so many
            steps, for about a third more time. By default all steps are kept.
    """

    engine_used: EngineUsed | None = None

    def __init__(
        self, cell: MemoryCell, *, batch_first: bool = False, engine: Engine = "auto", replay: int | None = None
    ) -> None:
        super().__init__()
        if replay is not None:
            check_sizes(replay=replay)
        if engine not in get_args(Engine):
            raise UserError(f"engine must be one of {', '.join(get_args(Engine))}, got {engine!r}")
        self.cell = cell
        self.batch_first = batch_first
        self.engine = engine
        self.replay = replay

    def reset_parameters(self) -> None:
        """Initialise the cell anew."""
        self.cell.reset_parameters()

    def forward(
        self,
        inputs: Sequence,
        state: CellState | None = None,
        *,
        lengths: Int[Tensor, "B"] | None = None,
        losses: bool = False,
    ) -> tuple[Sequence, CellState] | Output:
        """Run over a sequence.

        Args:
            inputs: the sequences.
            state: where to go on from; by default the cell's initial state.
            lengths: how many steps of each row count; past them a row neither writes nor advances, and its output is
                zero. A PackedSequence carries its own.
            losses: also give the network's own losses, ``output, state, losses = rnn(x, losses=True)``.
        """
        result = self._sequence(inputs, state, lengths)
        return Output(*result, self.cell.losses()) if losses else result

    def _sequence(
        self, inputs: Sequence, state: CellState | None, lengths: Int[Tensor, "B"] | None
    ) -> tuple[Sequence, CellState]:
        if isinstance(inputs, PackedSequence):
            if lengths is not None:
                raise UserError("a PackedSequence carries its lengths: leave out lengths")
            padded, lengths = pad_packed_sequence(inputs)
            output, state = self._run(padded, state, lengths)
            order, back = inputs.sorted_indices, inputs.unsorted_indices
            if order is not None:  # the order of the rows as they were packed
                output, lengths = output.index_select(1, order), lengths[order.cpu()]
            packed = pack_padded_sequence(output, lengths)
            return PackedSequence(packed.data, inputs.batch_sizes, order, back), state
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
        if lengths is not None:
            _check_lengths(lengths, steps, batch)
        at_once = self._steps_at_once()
        if at_once is None or steps <= at_once:
            return self._at_once(inputs, state, lengths)
        outputs = []  # so that nothing grows with the length but what is returned, and the states between
        for start in range(0, steps, at_once):
            some = inputs[start : start + at_once]
            left = None if lengths is None else (lengths - start).clamp(0, some.shape[0])
            if torch.is_grad_enabled():
                output, state = checkpoint(self._at_once, some, state, left, use_reentrant=False)
            else:
                output, state = self._at_once(some, state, left)
            outputs.append(output)
        return torch.cat(outputs), state

    def _steps_at_once(self) -> int | None:
        """How many steps run in one part; None: all of them."""
        if torch.compiler.is_compiling():
            return None
        if not torch.is_grad_enabled():
            return AT_ONCE
        return None if trace.is_recording() else self.replay  # what is played again would be recorded twice

    def _at_once(
        self, inputs: Float[Tensor, "T B I"], state: CellState, lengths: Int[Tensor, "rows"] | None
    ) -> tuple[Float[Tensor, "T B O"], CellState]:
        active = None
        if lengths is not None:
            active = torch.arange(inputs.shape[0], device=inputs.device).unsqueeze(1) < lengths.to(inputs.device)
        self.engine_used = choose_engine(
            self.engine, lambda: native.why_not(self.cell, inputs), lambda: native.why_no_step(self.cell, inputs)
        )
        if self.engine_used.name == "native" and not trace.is_recording():
            features, state = native.run(self.cell, inputs, state, lengths)
        elif self.engine_used.name == "reference":
            features, state = self._step_by_step(inputs, state, active, advance_in_torch)
        else:
            features, state = self._step_by_step(inputs, state, active, native.advance)
        return self._readout(features, active, lengths), state

    def _readout(
        self,
        features: Float[Tensor, "T B F"],
        active: Bool[Tensor, "T B"] | None,
        lengths: Int[Tensor, "rows"] | None,
    ) -> Float[Tensor, "T B O"]:
        """The output of all steps, zero past the end of a row."""
        counting = None if torch.compiler.is_compiling() else rows_that_count(lengths, *features.shape[:2])
        if counting is None or self.cell.readout_weight is None:
            output = self.cell.readout(features)
            return output if active is None else output * active.unsqueeze(2)
        counting = counting.to(features.device)
        output = self.cell.readout(features.flatten(0, 1).index_select(0, counting))
        nothing = output.new_zeros(features.shape[0] * features.shape[1], output.shape[1])
        return nothing.index_copy(0, counting, output).view(*features.shape[:2], -1)

    def _step_by_step(
        self,
        inputs: Float[Tensor, "T B I"],
        state: CellState,
        active: Bool[Tensor, "T B"] | None,
        advance: Advance,
    ) -> tuple[Float[Tensor, "T B F"], CellState]:
        features = [inputs.new_zeros(0, inputs.shape[1], self.cell.feature_size)]
        for step, at_step in enumerate(inputs.unbind(0)):
            feature, state = self.cell.step(at_step, state, None if active is None else active[step], advance)
            features.append(feature.unsqueeze(0))
        return torch.cat(features), state

    def extra_repr(self) -> str:
        """What differs from the defaults."""
        first = ["batch_first=True"] if self.batch_first else []
        last = [] if self.replay is None else [f"replay={self.replay}"]
        return ", ".join([*first, f"engine={self.engine!r}", *last])


def _check_lengths(lengths: Int[Tensor, "rows"], steps: int, batch: int) -> None:
    if lengths.shape != (batch,):
        raise UserError(f"expected lengths of shape ({batch},), got {tuple(lengths.shape)}")
    if not torch.compiler.is_compiling() and not ((lengths >= 0) & (lengths <= steps)).all():
        raise UserError(f"lengths must lie between 0 and {steps}, got {lengths.tolist()}")
