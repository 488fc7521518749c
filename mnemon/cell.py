"""The memory cell: controller × interface × memory × writing, one step (thesis §3.3).

Letters: ``B`` batch, ``I`` input, ``H`` hidden, ``Q`` numbers read, ``F`` features H + Q, ``O`` output.

A step: the controller sees the input and what was read last; the interface turns its output into a vector that steers
the memory; the memory is written, if the writing policy lets it, and read. The output is y = W_y h + W_r r.
"""

from contextlib import AbstractContextManager, nullcontext
from copy import copy
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon import trace
from mnemon.controllers import Controller
from mnemon.errors import UserError
from mnemon.interface import Interface, LinearInterface
from mnemon.memory.base import Advance, Memory, advance_in_torch, check_sizes
from mnemon.state import where
from mnemon.writing import Access, RegularWriting, Writing


class CellState(NamedTuple):
    """What a cell carries from step to step; each part is its own NamedTuple of tensors, batch first."""

    controller: Any
    memory: Any
    writing: Any


class MemoryCell(nn.Module):
    """One step of a memory-augmented network, as nn.LSTMCell is one of an LSTM.

    Args:
        controller: the network that sees the input; not yet part of another cell.
        memory: the memory; several cells may share one.
        interface: from the controller's output to the memory's interface vector; linear by default.
        writing: when the memory is written; at every step by default.
        output_size: O. Without it the output is [h_t, r_t], of size H + reads × word.
        output_bias: whether the read-out has a bias.
        sees_reads: whether controller and read-out see what is read. A decoder whose reads become a latent variable,
            which is part of its input, does not (thesis §5.3.1).
    """

    def __init__(
        self,
        controller: Controller[Any],
        memory: Memory[Any, Any],
        *,
        interface: Interface | None = None,
        writing: Writing[Any] | None = None,
        output_size: int | None = None,
        output_bias: bool = True,
        sees_reads: bool = True,
    ) -> None:
        super().__init__()
        self.sees_reads = sees_reads
        seen = memory.read_size if sees_reads else 0
        controller.connect(seen, memory.recipe)
        like = controller.weight_ih
        self.controller = controller
        self.memory = memory.to(like)
        self.interface = interface if interface is not None else LinearInterface()
        self.interface.connect(controller.hidden_size, memory.head_sizes, memory.recipe, like)
        self.writing = writing if writing is not None else RegularWriting()
        self.writing.connect(controller.hidden_size, memory.read_size, like)
        self.feature_size = controller.hidden_size + seen
        self.readout_weight: nn.Parameter | None = None
        self.readout_bias: nn.Parameter | None = None
        if output_size is not None:
            check_sizes(output_size=output_size)
            self.readout_weight = nn.Parameter(like.new_empty(output_size, self.feature_size))
            self.readout_bias = nn.Parameter(like.new_empty(output_size)) if output_bias else None
            memory.recipe.readout(self.readout_weight, self.readout_bias)

    @property
    def input_size(self) -> int:
        """Channels of the input."""
        return self.controller.input_size

    @property
    def output_size(self) -> int:
        """Channels of the output."""
        return self.feature_size if self.readout_weight is None else self.readout_weight.shape[0]

    def reset_parameters(self) -> None:
        """Initialise all parts anew by the recipe of the memory's family."""
        self.memory.reset_parameters()
        self.controller.reset_parameters()
        self.interface.reset_parameters()
        self.writing.reset_parameters()
        if self.readout_weight is not None:
            self.memory.recipe.readout(self.readout_weight, self.readout_bias)

    def with_writing(self, writing: Writing[Any]) -> "MemoryCell":
        """The same cell, of the same weights, under another policy that has none: a decoder that does not write."""
        cell = copy(self)
        cell._modules = {**self._modules, "writing": writing}
        return cell

    def losses(self) -> dict[str, Tensor]:
        """What the parts add to the loss of training, by name: the penalties on the keys of stored programs."""
        parts = {"controller": self.controller.losses(), "interface": self.interface.losses()}
        return {f"{part}.{name}": loss for part, losses in parts.items() for name, loss in losses.items()}

    def init_state(self, batch: int) -> CellState:
        """The state before the first step, for a batch of this size."""
        weight = self.controller.weight_ih
        return CellState(
            controller=self.controller.init_state(batch),
            memory=self.memory.init_state(batch, device=weight.device, dtype=weight.dtype),
            writing=self.writing.init_state(batch, weight.device),
        )

    def forward(
        self, inputs: Float[Tensor, "*batch I"], state: CellState | None = None
    ) -> tuple[Float[Tensor, "*batch O"], CellState]:
        """One step on (B, I) or (I) numbers: the output and the next state."""
        batched = inputs if inputs.dim() == 2 else inputs.unsqueeze(0)
        self.check_input(inputs, dimensions=(1, 2))
        if state is None:
            state = self.init_state(batched.shape[0])
        features, state = self.step(batched, state)
        output = self.readout(features)
        return (output if inputs.dim() == 2 else output.squeeze(0)), state

    def step(
        self,
        inputs: Float[Tensor, "B I"],
        state: CellState,
        active: Bool[Tensor, "B"] | None = None,
        advance: Advance = advance_in_torch,
    ) -> tuple[Float[Tensor, "B F"], CellState]:
        """One step up to the features [h_t, r_t]; rows that are not active stand still.

        ``advance`` takes the memory's part of it.
        """
        before, reads = state.controller.hidden, state.memory.reads.flatten(1)
        accesses = self.writing.plan(state.writing, 1)
        recalled = self.writing.recall(state.writing, before, reads)
        seen = torch.cat([inputs, reads], dim=1) if self.sees_reads else inputs
        controller = self.controller(seen, state.controller._replace(hidden=recalled))
        vector, programs = self.interface.steer(controller.hidden)
        with _full_precision(inputs.device.type):
            memory = self._access(vector, state.memory, accesses, advance)
        new = CellState(controller, memory, self.writing.advance(state.writing, before, controller.hidden.unsqueeze(0)))
        if active is not None:
            new = where(active, new, state)
        if trace.is_recording():
            written = _written(accesses, inputs, active)
            trace.observe(self, trace.Step(self.memory.parse(vector), new.memory, new.controller, written, programs))
        if not self.sees_reads:
            return new.controller.hidden, new
        return torch.cat([new.controller.hidden, new.memory.reads.flatten(1)], dim=1), new

    def _access(
        self, vector: Float[Tensor, "B X"], state: Any, accesses: UInt8[Tensor, "1 B"] | Access, advance: Advance
    ) -> Any:
        """Write, read or leave the memory, each row as it should."""
        if isinstance(accesses, Access):
            write = accesses is Access.WRITE
            return state if accesses is Access.HOLD else self.memory.step(vector, state, write, advance)
        new = state
        for kind in (Access.READ, Access.WRITE):
            rows = accesses[0] == kind
            if rows.any():
                new = where(rows, self.memory.step(vector, state, kind is Access.WRITE, advance), new)
        return new

    def readout(self, features: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch O"]:
        """y = W_y h + W_r r, or the features as they are."""
        if self.readout_weight is None:
            return features
        return F.linear(features, self.readout_weight, self.readout_bias)

    def check_input(self, inputs: Tensor, dimensions: tuple[int, ...]) -> None:
        """Refuse inputs of the wrong shape in the words of nn.LSTM."""
        if inputs.dim() not in dimensions:
            expected = " or ".join(f"{d}D" for d in dimensions)
            raise UserError(f"expected input to be {expected}, got {inputs.dim()}D: {tuple(inputs.shape)}")
        if inputs.shape[-1] != self.input_size:
            raise UserError(
                f"input.size(-1) must be equal to input_size: expected {self.input_size}, got {inputs.shape[-1]}"
            )


def _written(
    accesses: UInt8[Tensor, "1 B"] | Access, inputs: Float[Tensor, "B I"], active: Bool[Tensor, "B"] | None
) -> Bool[Tensor, "B"]:
    """Which rows wrote the memory."""
    if isinstance(accesses, Access):
        written = torch.full((len(inputs),), accesses is Access.WRITE, device=inputs.device)
    else:
        written = accesses[0] == Access.WRITE
    return written if active is None else written & active


def _full_precision(device_type: str) -> AbstractContextManager[object]:
    """Autocast off: the memory's bookkeeping (sums to one, products over all slots) does not bear half precision."""
    if torch.is_autocast_enabled(device_type):
        return torch.autocast(device_type, enabled=False)
    return nullcontext()
