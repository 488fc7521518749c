"""Controllers of several layers (thesis, appendix to chapter 5: "the number of LSTM layers for every controller").

Letters: ``B`` batch, ``I`` input, ``C`` input and what was read, ``H`` hidden.

Each layer sees the output of the one below it; the lowest sees the input and what was read, and the highest steers the
memory and is the controller's output. No kernel runs several layers as a whole: the memory's steps are taken by one.
"""

from collections.abc import Sequence
from typing import Any, cast

from jaxtyping import Float
from torch import Tensor, nn

from mnemon.controllers.base import Controller
from mnemon.errors import UserError
from mnemon.initialisation import Recipe


class Layers(tuple[Any, ...]):
    """The state of each layer, the lowest first."""

    def __new__(cls, *each: Any) -> "Layers":
        """One argument for each layer, as a NamedTuple takes its fields."""
        return super().__new__(cls, each)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    @property
    def hidden(self) -> Float[Tensor, "B H"]:
        """The output of the highest."""
        return cast(Tensor, self[-1].hidden)

    def _replace(self, *, hidden: Float[Tensor, "B H"]) -> "Layers":
        """The same with another output of the highest."""
        return Layers(*self[:-1], self[-1]._replace(hidden=hidden))


class StackedController(Controller[Any]):
    """Controllers on top of one another.

    Args:
        layers: the lowest first; each has as many inputs as the one below has hidden units, and all equally many.
    """

    def __init__(self, layers: Sequence[Controller[Any]]) -> None:
        nn.Module.__init__(self)  # it has no matrices of its own
        if not layers:
            raise UserError(
                "StackedController needs at least one layer: write StackedController([LSTMController(8, 16)])"
            )
        self.input_size, self.hidden_size, self.read_size = layers[0].input_size, layers[-1].hidden_size, 0
        for number, layer in enumerate(layers):
            if layer.hidden_size != self.hidden_size or (number and layer.input_size != self.hidden_size):
                raise UserError(
                    f"layer {number} has {layer.input_size} inputs and {layer.hidden_size} hidden units:"
                    f" write {self.hidden_size} hidden units in all, and as many inputs above the lowest"
                )
        self.learned_state, self.programs = False, None
        self.layers = nn.ModuleList(layers)

    @property
    def weight_ih(self) -> nn.Parameter:  # type: ignore[override]  # of the lowest, which it is not the owner of
        """What acts on the input."""
        return self._each[0].weight_ih

    def connect(self, read_size: int, recipe: Recipe) -> None:
        """The lowest layer sees what is read."""
        self.read_size = read_size
        for number, layer in enumerate(self._each):
            layer.connect(0 if number else read_size, recipe)

    def reset_parameters(self) -> None:
        """Each layer by itself."""
        for layer in self._each:
            layer.reset_parameters()

    def init_state(self, batch: int) -> Layers:
        """Each layer's own."""
        return Layers(*(layer.init_state(batch) for layer in self._each))

    def forward(self, inputs: Float[Tensor, "B C"], state: Layers) -> Layers:
        """One step of each, from the lowest to the highest."""
        new = []
        for layer, before in zip(self._each, state, strict=True):
            new.append(layer(inputs, before))
            inputs = new[-1].hidden
        return Layers(*new)

    def losses(self) -> dict[str, Tensor]:
        """Those of all, by number."""
        return {f"{i}.{name}": loss for i, layer in enumerate(self._each) for name, loss in layer.losses().items()}

    def extra_repr(self) -> str:
        """The layers print themselves."""
        return ""

    @property
    def _each(self) -> list[Controller[Any]]:
        return cast(list[Controller[Any]], list(self.layers))
