"""Controllers: the network that sees the input and what was read, and steers the memory (thesis §3.1, §3.3).

Letters: ``B`` batch, ``I`` input, ``C`` input and what was read, ``H`` hidden, ``G`` gates × hidden.

A controller is made without knowing its memory, ``LSTMController(10, 100)``; the cell connects them, which widens the
input by what is read. The weights are named as in torch.nn's cells and act on [x_t, r_{t−1}] and on h_{t−1}.

With stored ``programs`` (thesis §7.3) the matrices and their biases are looked up at each step by [x_t, r_{t−1},
h_{t−1}]: the whole transition function is a program, which the thesis suggests and leaves out. Those of one program
follow those of another along the first axis.

Controllers whose memory is more than a vector have files of their own: mnemon/associative_lstm.py and
mnemon/fast_weights.py.

Deviations: the GRU applies its reset gate after the recurrent product, as torch.nn.GRU does (the thesis: before). The
original LSTM's f and h are both tanh, where Hochreiter and Schmidhuber (1997) scale them to ±2 and ±1, and errors flow
back through its gates, where theirs are cut off.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import DNCRecipe, Recipe
from mnemon.memory.base import check_sizes
from mnemon.programs import ProgramKeys


class HiddenState(NamedTuple):
    """The state of a controller without a cell: its output."""

    hidden: Float[Tensor, "B H"]  # h_t


class LSTMState(NamedTuple):
    """The state of an LSTM."""

    hidden: Float[Tensor, "B H"]  # h_t
    cell: Float[Tensor, "B H"]  # c_t


State = TypeVar("State", bound=tuple[Any, ...])  # a NamedTuple of tensors with at least `hidden`, the output (B H)


class Controller(nn.Module, ABC, Generic[State]):
    """What all controllers share: their matrices, the connection to a memory, and the initial state.

    Args:
        input_size: I, the channels of x_t.
        hidden_size: H, the size of h_t.
        learned_state: learn the initial state rather than start from zero.
        programs: keys of programs to choose the matrices from; by default they are always the same.
        device: where the weights live.
        dtype: their floating point type.
    """

    gates: ClassVar[int] = 1  # blocks of H rows in each matrix
    recurrent: ClassVar[bool] = True  # has weight_hh
    biased: ClassVar[bool] = True
    state_type: ClassVar[type[tuple[Any, ...]]] = HiddenState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        learned_state: bool = False,
        programs: ProgramKeys | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_sizes(input_size=input_size, hidden_size=hidden_size)
        if learned_state and not self.recurrent:
            raise UserError("a feed-forward controller has no state to learn: leave out learned_state")
        self.input_size, self.hidden_size, self.read_size = input_size, hidden_size, 0
        self.learned_state = learned_state
        self.programs = programs
        self.recipe: Recipe = DNCRecipe()

        def parameter(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.empty(shape, device=device, dtype=dtype))

        rows = self.rows * (1 if programs is None else programs.programs)
        self.weight_ih = parameter(rows, input_size)
        self.weight_hh = parameter(rows, hidden_size) if self.recurrent else None
        self.bias_ih = parameter(rows) if self.biased else None
        self.bias_hh = parameter(rows) if self.biased and self.recurrent else None
        shapes = self.state_shapes if learned_state else {}
        self.initial_state = nn.ParameterDict({name: parameter(*shape) for name, shape in shapes.items()})
        self._add_parameters(parameter)
        self._connect_programs()
        self.reset_parameters()

    @property
    def rows(self) -> int:
        """Of each matrix: what a step computes from [x, r] and from h."""
        return self.gates * self.hidden_size

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """The parts of the state, without the batch."""
        return dict.fromkeys(self.state_type._fields, (self.hidden_size,))  # type: ignore[attr-defined]

    def _add_parameters(self, parameter: Callable[..., nn.Parameter]) -> None:
        """For a controller with parameters beside its matrices: make them with ``parameter(*shape)``."""

    def connect(self, read_size: int, recipe: Recipe) -> None:
        """Widen the input by what is read from the memory, and take its family's initialisation."""
        if self.read_size:
            raise UserError("this controller already belongs to a cell: make a new controller for each cell")
        self.read_size, self.recipe = read_size, recipe
        wider = self.weight_ih.new_empty(self.weight_ih.shape[0], self.input_size + read_size)
        self.weight_ih = nn.Parameter(wider)
        self._connect_programs()
        self.reset_parameters()

    def _connect_programs(self) -> None:
        if self.programs is not None:
            seen = self.weight_ih.shape[1] + (self.hidden_size if self.recurrent else 0)
            self.programs.connect(seen, [self.rows], self.weight_ih)

    def reset_parameters(self) -> None:
        """Initialise as the family of the connected memory was published; a learned state is 0.05·N(0, 1)."""
        weights = [weight for weight in (self.weight_ih, self.weight_hh) if weight is not None]
        biases = [bias for bias in (self.bias_ih, self.bias_hh) if bias is not None]
        self.recipe.controller(weights, biases, self.hidden_size)
        for part in self.initial_state.values():
            nn.init.normal_(part, std=0.05)
        if self.programs is not None:
            self.programs.reset_parameters(self.recipe.head)

    def init_state(self, batch: int) -> State:
        """The learned initial state, or zeros."""
        parts = {name: self.weight_ih.new_zeros(batch, *shape) for name, shape in self.state_shapes.items()}
        parts |= {name: part.expand(batch, *part.shape) for name, part in self.initial_state.items()}
        return self.state_type(**parts)  # type: ignore[return-value]  # state_type is the class's State

    @abstractmethod
    def forward(self, inputs: Float[Tensor, "B C"], state: State) -> State:
        """One step on [x_t, r_{t−1}]; the new state's ``hidden`` is the controller's output."""

    def _products(self, inputs: Float[Tensor, "B C"], hidden: Float[Tensor, "B H"]) -> list[Float[Tensor, "B G"]]:
        """W [x, r] + b and, where the controller is recurrent, U h + b'; of the programs that these ask for."""
        products, seen = [_product(inputs, self.weight_ih, self.bias_ih)], inputs
        if self.weight_hh is not None:
            products.append(_product(hidden, self.weight_hh, self.bias_hh))
            seen = torch.cat([inputs, hidden], dim=1)
        if self.programs is None:
            return products
        chosen = self.programs(seen)
        return [self.programs.mix(product, chosen) for product in products]

    def losses(self) -> dict[str, Tensor]:
        """What the controller adds to the loss of training, by name."""
        return {} if self.programs is None else self.programs.losses()

    def extra_repr(self) -> str:
        """As torch.nn prints a cell."""
        learned = ", learned_state=True" if self.learned_state else ""
        return f"{self.input_size}, {self.hidden_size}, read_size={self.read_size}{learned}"


def _product(vectors: Float[Tensor, "B V"], weight: Tensor, bias: Tensor | None) -> Float[Tensor, "B rows"]:
    # under autocast a product is in half precision; what is carried from step to step is not
    return F.linear(vectors, weight, bias).to(weight.dtype)


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

    Each gate and the cell have a gain and a bias; the matrices have none. The forget gate is lifted by 1.

    The matrices begin with Glorot and Bengio's uniform range whatever the family, as in the authors' program.
    """

    gates = 4
    biased = False
    state_type = LSTMState

    def _add_parameters(self, parameter: Callable[..., nn.Parameter]) -> None:
        self.norm_gain = parameter(5, self.hidden_size)  # i, f, g, o, cell
        self.norm_bias = parameter(5, self.hidden_size)

    def reset_parameters(self) -> None:
        """Matrices U(±√(6 / (inputs + 5 hidden))), one range for [x, r, h] side by side; gains 1 and biases 0."""
        super().reset_parameters()
        assert self.weight_ih is not None
        assert self.weight_hh is not None
        bound = math.sqrt(6 / (self.weight_ih.shape[1] + 5 * self.hidden_size))
        for weight in (self.weight_ih, self.weight_hh):
            nn.init.uniform_(weight, -bound, bound)
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
