"""Controllers: the network that sees the input and what was read, and steers the memory (thesis §3.1, §3.3).

Letters: ``B`` batch, ``I`` input, ``C`` input and what was read, ``H`` hidden, ``G`` gates × hidden.

A controller is made without knowing its memory, ``LSTMController(10, 100)``; the cell connects them, which widens the
input by what is read. The weights are named as in torch.nn's cells and act on [x_t, r_{t−1}] and on h_{t−1}.

With stored ``programs`` (thesis §7.3) the matrices and their biases are looked up at each step by [x_t, r_{t−1},
h_{t−1}]: the whole transition function is a program, which the thesis suggests and leaves out. Those of one program
follow those of another along the first axis.
"""

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
        self.recipe.controller(weights, biases, self.rows)
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
