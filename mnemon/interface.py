"""Interfaces: from the controller's output to the vector that steers the memory (thesis §3.3).

Letters: ``B`` batch, ``H`` hidden, ``X`` interface, ``S`` stores, ``P`` programs.

The linear interface is ξ_t = W^c h_t. Stored programs (thesis §7.3, mnemon/programs.py) are another interface behind
the same methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import DNCRecipe, Recipe


class Steering(NamedTuple):
    """What an interface says at a step, and which of its programs said it; None where it has none."""

    vector: Float[Tensor, "B X"]  # ξ_t
    programs: Float[Tensor, "B S P"] | None


class Interface(nn.Module, ABC):
    """An interface is made without sizes; the cell connects it to its controller and memory."""

    @abstractmethod
    def connect(self, hidden_size: int, head_sizes: Sequence[int], recipe: Recipe, like: Tensor) -> None:
        """Make the weights, of the device and type of ``like``; the vector falls into heads of these sizes."""

    @abstractmethod
    def reset_parameters(self) -> None:
        """Initialise the weights by the family's recipe."""

    @abstractmethod
    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """The interface vector ξ_t."""

    def steer(self, hidden: Float[Tensor, "B H"]) -> Steering:
        """ξ_t, and the programs that made it."""
        return Steering(self(hidden), None)

    def draw_noise(self, steps: int, batch: int) -> Tensor | None:  # noqa: ARG002 (most draw none)
        """What so many steps draw at random, for the kernels."""
        return None

    def losses(self) -> dict[str, Tensor]:
        """What the interface adds to the loss of training, by name; most have nothing to add."""
        return {}


class LinearInterface(Interface):
    """ξ_t = W^c h_t + b.

    Args:
        bias: whether there is a bias b.
    """

    def __init__(self, *, bias: bool = True) -> None:
        super().__init__()
        self.biased = bias
        self.head_sizes: tuple[int, ...] = ()
        self.recipe: Recipe = DNCRecipe()
        self.weight = nn.Parameter(torch.empty(0, 0))
        self.bias = nn.Parameter(torch.empty(0)) if bias else None

    def connect(self, hidden_size: int, head_sizes: Sequence[int], recipe: Recipe, like: Tensor) -> None:
        """Make a weight of one row per number of the interface."""
        self.head_sizes, self.recipe = tuple(head_sizes), recipe
        size = sum(head_sizes)
        self.weight = nn.Parameter(like.new_empty(size, hidden_size))
        if self.biased:
            self.bias = nn.Parameter(like.new_empty(size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Each head by itself, as if it had a layer of its own."""
        for rows in rows_of_heads(self.head_sizes):
            self.recipe.head(self.weight.detach()[rows], None if self.bias is None else self.bias.detach()[rows])

    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """ξ_t in the precision of the weights, also under autocast."""
        return F.linear(hidden, self.weight, self.bias).to(self.weight.dtype)

    def extra_repr(self) -> str:
        """The sizes, as nn.Linear prints them."""
        size, hidden = self.weight.shape
        return f"in_features={hidden}, out_features={size}, bias={self.biased}"


class HeadwiseInterface(Interface):
    """An interface for each head, one of which may also serve another cell (thesis §4.4, shared read functions).

    Args:
        heads: as many as the memory has.
    """

    def __init__(self, heads: Sequence[Interface]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def connect(self, hidden_size: int, head_sizes: Sequence[int], recipe: Recipe, like: Tensor) -> None:
        """Connect each to its head."""
        if len(head_sizes) != len(self.heads):
            raise UserError(f"this memory has {len(head_sizes)} heads: write as many interfaces, not {len(self.heads)}")
        for head, size in zip(self._each, head_sizes, strict=True):
            head.connect(hidden_size, [size], recipe, like)

    def reset_parameters(self) -> None:
        """Each by itself."""
        for head in self._each:
            head.reset_parameters()

    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """What each says, side by side."""
        return torch.cat([head(hidden) for head in self._each], dim=1)

    def losses(self) -> dict[str, Tensor]:
        """Those of all, by number."""
        return {f"{i}.{name}": loss for i, head in enumerate(self._each) for name, loss in head.losses().items()}

    @property
    def _each(self) -> list[Interface]:
        return cast(list[Interface], list(self.heads))


class NormalisedInterface(Interface):
    """An interface whose vector is layer-normalised, with a gain and a bias for each number (thesis §7.4.5).

    Args:
        interface: what says the vector, linear or with stored programs.
    """

    def __init__(self, interface: Interface) -> None:
        super().__init__()
        self.interface = interface
        self.norm_gain = nn.Parameter(torch.empty(0))
        self.norm_bias = nn.Parameter(torch.empty(0))

    def connect(self, hidden_size: int, head_sizes: Sequence[int], recipe: Recipe, like: Tensor) -> None:
        """Connect the interface; all heads are normalised together."""
        self.interface.connect(hidden_size, head_sizes, recipe, like)
        self.norm_gain = nn.Parameter(like.new_ones(sum(head_sizes)))
        self.norm_bias = nn.Parameter(like.new_zeros(sum(head_sizes)))

    def reset_parameters(self) -> None:
        """The interface by the family's recipe; gains 1 and biases 0."""
        self.interface.reset_parameters()
        nn.init.ones_(self.norm_gain)
        nn.init.zeros_(self.norm_bias)

    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """The normalised vector."""
        return self.steer(hidden).vector

    def steer(self, hidden: Float[Tensor, "B H"]) -> Steering:
        """It, and the programs that made it."""
        vector, programs = self.interface.steer(hidden)
        return Steering(F.layer_norm(vector, vector.shape[1:], self.norm_gain, self.norm_bias), programs)

    def draw_noise(self, steps: int, batch: int) -> Tensor | None:
        """Of the interface."""
        return self.interface.draw_noise(steps, batch)

    def losses(self) -> dict[str, Tensor]:
        """Of the interface."""
        return self.interface.losses()


def rows_of_heads(head_sizes: Sequence[int]) -> list[slice]:
    """Where the numbers of each head are."""
    ends = list(accumulate(head_sizes))
    return [slice(end - size, end) for size, end in zip(head_sizes, ends, strict=True)]
