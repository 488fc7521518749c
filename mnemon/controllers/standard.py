"""The usual controllers: feed-forward, Elman, GRU, and LSTM, also normalised and as at first (thesis §2.4.1, §3.1).

Letters: ``B`` batch, ``C`` input and what was read, ``H`` hidden.

Deviations: the GRU applies its reset gate after the recurrent product, as torch.nn.GRU does (the thesis: before). The
original LSTM's f and h are both tanh, where Hochreiter and Schmidhuber (1997) scale them to ±2 and ±1, and errors flow
back through its gates, where theirs are cut off.
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.controllers.base import Controller, HiddenState, LSTMState
from mnemon.initialisation import DNCRecipe


class FeedForwardController(Controller[HiddenState]):
    """h_t = tanh(W [x_t, r_{t−1}] + b): all memory is outside the controller."""

    recurrent = False

    def forward(self, inputs: Float[Tensor, "B C"], state: HiddenState) -> HiddenState:
        """One step; the previous state plays no part."""
        (product,) = self._products(inputs, state.hidden)
        return HiddenState(torch.tanh(product))


class ElmanController(Controller[HiddenState]):
    """h_t = tanh(W [x_t, r_{t−1}] + U h_{t−1} + b) (Elman, 1990)."""

    def forward(self, inputs: Float[Tensor, "B C"], state: HiddenState) -> HiddenState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        return HiddenState(torch.tanh(from_input + from_hidden))


class GRUController(Controller[HiddenState]):
    """Gated recurrent unit (thesis §3.1.2), gates r, z, n as torch.nn.GRUCell."""

    gates = 3

    def reset_parameters(self) -> None:
        """As the family's; where that opens an LSTM's forget gate, both gates begin by keeping the state."""
        super().reset_parameters()
        assert self.bias_ih is not None
        with torch.no_grad():
            self.bias_ih.view(-1, self.gates, self.hidden_size)[:, :2] += self.recipe.forget_bias

    def forward(self, inputs: Float[Tensor, "B C"], state: HiddenState) -> HiddenState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        reset_x, update_x, candidate_x = from_input.chunk(3, dim=1)
        reset_h, update_h, candidate_h = from_hidden.chunk(3, dim=1)
        reset = torch.sigmoid(reset_x + reset_h)  # r_t
        update = torch.sigmoid(update_x + update_h)  # z_t
        candidate = torch.tanh(candidate_x + reset * candidate_h)  # h̃_t
        return HiddenState(torch.lerp(candidate, state.hidden, update))


class LSTMController(Controller[LSTMState]):
    """Long short-term memory (thesis §3.1.1), gates i, f, g, o as torch.nn.LSTMCell."""

    gates = 4
    state_type = LSTMState

    def reset_parameters(self) -> None:
        """As the family's; the forget gate's bias is lifted where the family lifts it."""
        super().reset_parameters()
        assert self.bias_ih is not None
        with torch.no_grad():
            self.bias_ih.view(-1, self.gates, self.hidden_size)[:, 1] += self.recipe.forget_bias

    def forward(self, inputs: Float[Tensor, "B C"], state: LSTMState) -> LSTMState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        enter, forget, candidate, leave = (from_input + from_hidden).chunk(4, dim=1)
        cell = torch.sigmoid(forget) * state.cell + torch.sigmoid(enter) * torch.tanh(candidate)
        return LSTMState(torch.sigmoid(leave) * torch.tanh(cell), cell)


class OriginalLSTMController(Controller[LSTMState]):
    """Long short-term memory of 1997 (thesis §2.4.1, eq. scj), gates i, g, o: what its cell holds is never forgotten.

    Its self-connection is fixed at 1, so errors flow back unchanged; and what is added without end may saturate h_t,
    the internal state drift for which the LSTM was given its forget gate (:class:`LSTMController`).
    """

    gates = 3
    state_type = LSTMState

    def forward(self, inputs: Float[Tensor, "B C"], state: LSTMState) -> LSTMState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        enter, candidate, leave = (from_input + from_hidden).chunk(3, dim=1)
        cell = state.cell + torch.sigmoid(enter) * torch.tanh(candidate)  # s(t), with y^in and f
        return LSTMState(torch.sigmoid(leave) * torch.tanh(cell), cell)  # y^out h(s)


class LayerNormLSTMController(Controller[LSTMState]):
    """LSTM whose gates and cell are layer-normalised (thesis §6.5), gates i, f, g, o.

    Each gate and the cell have a gain and a bias. The forget gate is lifted by 1.

    The matrices begin as the DNC's whatever the family, as in the authors' program.

    Args:
        input_size: I.
        hidden_size: H.
        bias: whether the gates also have one before they are normalised.
        options: as of every controller.
    """

    gates = 4
    biased = False
    state_type = LSTMState

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = False, **options: Any) -> None:
        super().__init__(input_size, hidden_size, **options)
        if bias:
            self.bias_ih = nn.Parameter(self.weight_ih.new_zeros(len(self.weight_ih)))

    def _add_parameters(self, parameter: Callable[..., nn.Parameter]) -> None:
        self.norm_gain = parameter(5, self.hidden_size)  # i, f, g, o, cell
        self.norm_bias = parameter(5, self.hidden_size)

    def reset_parameters(self) -> None:
        """Matrices as the DNC's; gains 1 and biases 0."""
        super().reset_parameters()
        assert self.weight_ih is not None
        assert self.weight_hh is not None
        DNCRecipe().controller((self.weight_ih, self.weight_hh), (), self.rows)
        nn.init.ones_(self.norm_gain)
        nn.init.zeros_(self.norm_bias)

    def forward(self, inputs: Float[Tensor, "B C"], state: LSTMState) -> LSTMState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        gates = (from_input + from_hidden).chunk(4, dim=1)
        enter, forget, candidate, leave = (self._normalise(gate, which) for which, gate in enumerate(gates))
        cell = torch.sigmoid(forget + 1) * state.cell + torch.sigmoid(enter) * torch.tanh(candidate)
        cell = self._normalise(cell, 4)
        return LSTMState(torch.sigmoid(leave) * torch.tanh(cell), cell)

    def _normalise(self, numbers: Float[Tensor, "B H"], which: int) -> Float[Tensor, "B H"]:
        return F.layer_norm(numbers, (self.hidden_size,), self.norm_gain[which], self.norm_bias[which])
