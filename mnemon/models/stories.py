"""What memory networks share (thesis §3.3.2): they are given a story and a question, and answer in one step.

Letters: ``B`` batch, ``T`` words of a view, ``V`` words of the vocabulary, ``D`` numbers of a vector, ``K`` hops,
``O`` answers, ``N`` slots.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.models.sentences import Sentences, bag_sentences, find_places


class StoryNetwork(nn.Module, ABC):
    """``output, _ = model([story, question], lengths=[…])``: one logit for each answer, (1, B, O)."""

    output: nn.Linear

    @abstractmethod
    def read(
        self, views: Sequence[Int[Tensor, "_ B"]], lengths: Sequence[Int[Tensor, "B"] | None] | None = None
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "K B N"]]:
        """The query after the last hop, and where each hop looked."""

    def forward(
        self,
        views: Sequence[Int[Tensor, "_ B"]],
        memories: Sequence[Any] | None = None,
        *,
        lengths: Sequence[Int[Tensor, "B"] | None] | None = None,
        steps: int = 1,
        targets: Tensor | None = None,  # noqa: ARG002 (one answer is not fed back)
        teacher: float = 0.0,  # noqa: ARG002
        asked: Tensor | None = None,  # noqa: ARG002 (for losses of a model's own)
    ) -> tuple[Float[Tensor, "1 B O"], tuple[()]]:
        """The logits of the answer. Nothing persists: a story is told whole."""
        check_call(views, memories, steps)
        query, _ = self.read(views, lengths)
        return self.output(query).unsqueeze(0), ()


def bag_question(
    tokens: Int[Tensor, "T B"], lengths: Int[Tensor, "B"] | None, words: int, dtype: torch.dtype, positions: bool
) -> Sentences:
    """The question as a bag of words: the last sentence of its view."""
    return bag_sentences(tokens, find_places(tokens, lengths), slots=1, words=words, dtype=dtype, positions=positions)


def check_call(views: Sequence[Tensor], memories: Sequence[Any] | None, steps: int) -> None:
    """Refuse what a memory network cannot do."""
    if len(views) != 2:
        raise UserError(f"a memory network reads a story and a question: give two views, not {len(views)}")
    if memories:
        raise UserError("a memory network keeps nothing from call to call: give it the whole story, and no memories")
    if steps != 1:
        raise UserError(f"a memory network answers in one step: write steps=1, not {steps}")
