"""What tasks and models say to one another about views: sequences of tokens that are read beside each other."""

from typing import Literal, NamedTuple

from jaxtyping import Float, Int
from torch import Tensor


class ViewSizes(NamedTuple):
    """The input of a task with views: how many tokens each has, and how the answer is given."""

    views: tuple[int, ...]
    answer: Literal["sequence", "set"]


class Visit(NamedTuple):
    """Views that are read together, and then answered. Those of a visit may end at different steps."""

    views: tuple[Int[Tensor, "_ B"], ...]
    lengths: tuple[Int[Tensor, "B"], ...]


class TokenVectors(NamedTuple):
    """Vectors that some tokens have from elsewhere, for embeddings to begin with."""

    tokens: Int[Tensor, "K"]
    vectors: Float[Tensor, "K E"]
