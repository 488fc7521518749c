"""Interfaces: from the controller's output to the vector that steers the memory (thesis §3.3).

Letters: ``B`` batch, ``H`` hidden, ``X`` interface.

The linear interface is ξ_t = W^c h_t. Stored programs (thesis §7.3) are another interface behind the same methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.initialisation import DNCRecipe, Recipe


class Interface(nn.Module, ABC):
    """An interface is made without sizes; the cell connects it to its controller and memory."""

    @abstractmethod
    def connect(
        self,
        hidden_size: int,
        head_sizes: Sequence[int],
        recipe: Recipe,
        like: Tensor,
    ) -> None:
        """Make the weights, of the device and type of ``like``; the vector falls into heads of these sizes."""

    @abstractmethod
    def reset_parameters(self) -> None:
        """Initialise the weights by the family's recipe."""

    @abstractmethod
    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """The interface vector ξ_t."""


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

    def connect(
        self,
        hidden_size: int,
        head_sizes: Sequence[int],
        recipe: Recipe,
        like: Tensor,
    ) -> None:
        """Make a weight of one row per number of the interface."""
        self.head_sizes, self.recipe = tuple(head_sizes), recipe
        size = sum(head_sizes)
        self.weight = nn.Parameter(like.new_empty(size, hidden_size))
        if self.biased:
            self.bias = nn.Parameter(like.new_empty(size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Each head by itself, as if it had a layer of its own."""
        start = 0
        for size in self.head_sizes:
            rows = slice(start, start + size)
            self.recipe.head(self.weight.detach()[rows], None if self.bias is None else self.bias.detach()[rows])
            start += size

    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """ξ_t in the precision of the weights, also under autocast."""
        return F.linear(hidden, self.weight, self.bias).to(self.weight.dtype)

    def extra_repr(self) -> str:
        """The sizes, as nn.Linear prints them."""
        size, hidden = self.weight.shape
        return f"in_features={hidden}, out_features={size}, bias={self.biased}"
