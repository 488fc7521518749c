"""How words are chosen while a decoder speaks: the likeliest, or by lot, with a temperature and among the likely ones.

Letters: ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.

The thesis always takes the likeliest word, so that what varies from answer to answer is the latent variable alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.errors import UserError

Choice = Callable[[Float[Tensor, "B O"]], Int[Tensor, "B"]]


class Generated(NamedTuple):
    """Answers in tokens, each to be cut at its first end, and the mode behind each step where a model has modes."""

    tokens: Int[Tensor, "A B"]
    modes: Int[Tensor, "A B"] | None


def likeliest(logits: Float[Tensor, "B O"]) -> Int[Tensor, "B"]:
    """The word of the largest logit."""
    return logits.argmax(-1)


def word_choice(*, temperature: float = 0.0, top_p: float = 1.0, generator: torch.Generator | None = None) -> Choice:
    """How to choose words.

    Args:
        temperature: the logits are divided by it before a word is drawn; 0: the likeliest word.
        top_p: words are drawn among the fewest that are this likely together; 1: among all.
        generator: what they are drawn with; None: torch's global one.
    """
    if not 0 <= temperature < float("inf"):
        raise UserError(f"temperature must be 0, for the likeliest word, or a number above, got {temperature}")
    if not 0 < top_p <= 1:
        raise UserError(f"top_p must be above 0 and at most 1, for all words, got {top_p}")
    if temperature == 0:
        return likeliest

    def draw(logits: Float[Tensor, "B O"]) -> Int[Tensor, "B"]:
        odds, words = torch.softmax(logits / temperature, dim=-1).sort(dim=-1, descending=True)
        before = odds.cumsum(-1) - odds  # of all words that are likelier
        kept = torch.where(before < top_p, odds, 0.0)
        return words.gather(1, torch.multinomial(kept, 1, generator=generator)).squeeze(1)

    return draw
