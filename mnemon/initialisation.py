"""How each family of cells was initialised when it was published; it decides whether a memory network learns.

With PyTorch's default LSTM weights an NTM hardly begins to copy in the time in which it learns to with the published
ones. So a memory names the recipe of its family, and the cell hands it to its parts, whose ``reset_parameters``
follow it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor, nn


class Recipe(ABC):
    """Fills the weights of a cell's parts in place. Recipes hold nothing, so that cells copy and pickle."""

    forget_bias = 0.0  # added to the bias of an LSTM's forget gate, and of both gates of a GRU

    @abstractmethod
    def controller(self, weights: Sequence[Tensor], biases: Sequence[Tensor], rows: int) -> None:
        """The controller's matrices, which act on [x, r, h] side by side, and its biases.

        ``rows`` is how many numbers a step computes; where the controller stores programs, matrices have more.
        """

    @abstractmethod
    def head(self, weight: Tensor, bias: Tensor | None) -> None:
        """The part of the interface that steers one head."""

    def programs(self, weight: Tensor, bias: Tensor | None) -> None:
        """The stored programs of one head, in the first axis: each as a head."""
        for number, program in enumerate(weight):
            self.head(program, None if bias is None else bias[number])

    @abstractmethod
    def readout(self, weight: Tensor, bias: Tensor | None) -> None:
        """y = W_y h + W_r r."""


class NTMRecipe(Recipe):
    """NTM, NUTM and matrix memories: wide uniform controller without biases, Xavier heads of gain 1.4, small programs.

    Without biases, which all steps share, the keys of a matrix memory differ from the first step.
    """

    def controller(self, weights: Sequence[Tensor], biases: Sequence[Tensor], rows: int) -> None:  # noqa: ARG002
        """U(±5/√(inputs + hidden)), biases 0."""
        bound = 5 / math.sqrt(sum(weight.shape[1] for weight in weights))
        for weight in weights:
            nn.init.uniform_(weight, -bound, bound)
        for bias in biases:
            nn.init.zeros_(bias)

    def head(self, weight: Tensor, bias: Tensor | None) -> None:
        """Xavier with gain 1.4, biases N(0, 0.01²)."""
        self._xavier(weight, bias, gain=1.4)

    def programs(self, weight: Tensor, bias: Tensor | None) -> None:
        """Xavier with gain 1.4 of the matrix that has all numbers of a program in a row: much smaller than heads."""
        parts = [weight] if bias is None else [weight, bias]
        bound = 1.4 * math.sqrt(6 / (len(weight) + sum(part[0].numel() for part in parts)))
        for part in parts:
            nn.init.uniform_(part, -bound, bound)

    def readout(self, weight: Tensor, bias: Tensor | None) -> None:
        """Xavier, biases N(0, 0.01²)."""
        self._xavier(weight, bias, gain=1.0)

    def _xavier(self, weight: Tensor, bias: Tensor | None, gain: float) -> None:
        nn.init.xavier_uniform_(weight, gain=gain)
        if bias is not None:
            nn.init.normal_(bias, std=0.01)


class DNCRecipe(Recipe):
    """DNC and its relatives, and cells without a memory: Glorot's controller, small normal interface and read-out.

    An LSTM begins with its forget gate open, a GRU with both of its gates.
    """

    forget_bias = 1.0

    def controller(self, weights: Sequence[Tensor], biases: Sequence[Tensor], rows: int) -> None:
        """Glorot and Bengio's U(±√(6 / (inputs + rows))), one range for [x, r, h] side by side; biases 0."""
        bound = math.sqrt(6 / (sum(weight.shape[1] for weight in weights) + rows))
        for weight in weights:
            nn.init.uniform_(weight, -bound, bound)
        for bias in biases:
            nn.init.zeros_(bias)

    def head(self, weight: Tensor, bias: Tensor | None) -> None:
        """N(0, 0.1²), biases 0."""
        nn.init.normal_(weight, std=0.1)
        if bias is not None:
            nn.init.zeros_(bias)

    def readout(self, weight: Tensor, bias: Tensor | None) -> None:
        """N(0, 0.1²), biases 0."""
        self.head(weight, bias)


class StackRecipe(Recipe):
    """Stack, queue and deque: as the DNC, but with wide heads that push and pop little at first.

    Weak rows are read several at a time, so that gradients reach more of them than the topmost.
    """

    forget_bias = DNCRecipe.forget_bias

    def controller(self, weights: Sequence[Tensor], biases: Sequence[Tensor], rows: int) -> None:
        """As the DNC's."""
        DNCRecipe().controller(weights, biases, rows)

    def head(self, weight: Tensor, bias: Tensor | None) -> None:
        """Xavier with gain 1.4; biases 0, but −1 for the last two, push and pop."""
        nn.init.xavier_uniform_(weight, gain=1.4)
        if bias is not None:
            nn.init.zeros_(bias)
            nn.init.constant_(bias[-2:], -1)

    def readout(self, weight: Tensor, bias: Tensor | None) -> None:
        """As the DNC's."""
        DNCRecipe().readout(weight, bias)
