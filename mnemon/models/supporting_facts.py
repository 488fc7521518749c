"""Memory network with hard attention, MemNN (thesis §3.3.2; Weston et al., 2015): it names the facts, then answers.

Letters: ``B`` batch, ``A`` steps of the answer, ``N`` slots, ``V`` words of the vocabulary, ``D`` numbers of a vector,
``O`` answers and, after them, "enough" and the slots,
``C`` what can be taken: "enough" and the slots that the batch needs.

The slots hold the sentences of a story, :mod:`mnemon.models.sentences`. One after the other the best is taken,

    o_k = argmax_i s_O([x, m_{o_1}, …, m_{o_{k−1}}], m_i),

until the best is that there are enough; then the answer is that of which s_R([x, m_{o_1}, …], answer) is largest. Both
s are products of embeddings, U_O for facts and U_R for answers, in which the question, a fact that was taken and one
that may be have dictionaries of their own.

So it answers in several steps, as a sequence decoder does: each step before the last has a logit for each slot and for
"enough", the last one for each answer. It needs to be told the right facts while it learns, which are its ``targets``,
and goes on from them rather than from its own (``teacher=1``); the choice passes no gradient.

Deviations:
    It learns by cross-entropy; published, by a margin between the score of the right one and those of the others.
    Sentences are weighted bags of words with a vector for their age, as those of MemN2N; published are bags of words,
        or of n-grams, with features that tell which of two was written first.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.sentences import Sentences, bag_sentences, embed, find_places
from mnemon.models.stories import bag_question, check_call


class _Side(nn.Module):
    """U_O or U_R, as far as they see the question and the facts that were taken."""

    def __init__(self, words: int, size: int, slots: int) -> None:
        super().__init__()
        self.question = nn.Parameter(torch.empty(words, size))
        self.fact = nn.Parameter(torch.empty(words, size))
        self.ages = nn.Parameter(torch.empty(slots, size))

    def facts(self, kept: Sentences) -> Float[Tensor, "B N D"]:
        return embed(kept, self.fact) + self.ages[: kept.valid.shape[1]]


class _Story(NamedTuple):
    """What is compared."""

    question: Float[Tensor, "B D"]  # x, by U_O
    facts: Float[Tensor, "B N D"]  # that were taken, by U_O
    candidates: Float[Tensor, "B N D"]  # that may be
    valid: Bool[Tensor, "B N"]
    asked: Float[Tensor, "B D"]  # x, by U_R
    told: Float[Tensor, "B N D"]  # facts, by U_R


class MemNN(nn.Module):
    """``output, _ = model([story, question], lengths=[…], steps=facts + 1)``: (A, B, O + 1 + slots).

    Args:
        words: V, of both views.
        size: D.
        answers: O.
        slots: sentences that are kept, the last ones.
    """

    def __init__(self, words: int, size: int, answers: int, *, slots: int = 50) -> None:
        super().__init__()
        check_sizes(words=words, size=size, answers=answers, slots=slots)
        self.slots = slots
        self.finding = _Side(words, size, slots)
        self.answering = _Side(words, size, slots)
        self.candidate = nn.Parameter(torch.empty(words, size))
        self.candidate_ages = nn.Parameter(torch.empty(slots, size))
        self.enough = nn.Parameter(torch.empty(size))
        self.output = nn.Linear(size, answers, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """N(0, 0.1²)."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.1)

    def forward(
        self,
        views: Sequence[Int[Tensor, "_ B"]],
        memories: Sequence[Any] | None = None,
        *,
        lengths: Sequence[Int[Tensor, "B"] | None] | None = None,
        steps: int,
        targets: Int[Tensor, "A B"] | None = None,
        teacher: float = 0.0,
        asked: Tensor | None = None,  # noqa: ARG002 (for losses of a model's own)
    ) -> tuple[Float[Tensor, "A B O"], tuple[()]]:
        """The logits of the facts, and at the last step those of the answer. Nothing persists."""
        check_call(views, memories, 1)
        story = self._read(views, lengths)
        query, response = story.question, story.asked
        batch = torch.arange(len(query), device=query.device)
        open_rows = torch.ones_like(batch, dtype=torch.bool)
        outputs = []
        for step in range(steps - 1):
            scores = self._scores(query, story)
            outputs.append(self._widen(scores))
            place = outputs[-1].argmax(-1) if targets is None or teacher < 1 else targets[step]
            slot = place - self.output.out_features - 1
            open_rows = open_rows & (slot >= 0) & (slot < story.valid.shape[1])
            taken = slot.clamp(0, story.valid.shape[1] - 1)
            query = query + open_rows.unsqueeze(1) * story.facts[batch, taken]
            response = response + open_rows.unsqueeze(1) * story.told[batch, taken]
        answers = self.output(response)
        lowest = torch.finfo(answers.dtype).min
        none = answers.new_full((len(answers), 1 + self.slots), lowest)
        return torch.stack([*outputs, torch.cat([answers, none], dim=1)]), ()

    def _read(self, views: Sequence[Int[Tensor, "_ B"]], lengths: Sequence[Int[Tensor, "B"] | None] | None) -> _Story:
        words, kind = self.candidate.shape[0], self.candidate.dtype
        told, asked = lengths or (None, None)
        question = bag_question(views[1], asked, words, kind, True)
        kept = bag_sentences(views[0], find_places(views[0], told), slots=self.slots, words=words, dtype=kind)
        return _Story(
            embed(question, self.finding.question)[:, 0],
            self.finding.facts(kept),
            embed(kept, self.candidate) + self.candidate_ages[: kept.valid.shape[1]],
            kept.valid,
            embed(question, self.answering.question)[:, 0],
            self.answering.facts(kept),
        )

    def _scores(self, query: Float[Tensor, "B D"], story: _Story) -> Float[Tensor, "B C"]:
        """s_O of "enough" and of each slot."""
        scores = torch.einsum("bd,bnd->bn", query, story.candidates)
        scores = scores.masked_fill(~story.valid, torch.finfo(scores.dtype).min)
        return torch.cat([(query @ self.enough).unsqueeze(1), scores], dim=1)

    def _widen(self, scores: Float[Tensor, "B C"]) -> Float[Tensor, "B O"]:
        """The scores where their channels are; all others cannot be taken."""
        lowest = torch.finfo(scores.dtype).min
        answers = scores.new_full((len(scores), self.output.out_features), lowest)
        unused = scores.new_full((len(scores), self.slots + 1 - scores.shape[1]), lowest)
        return torch.cat([answers, scores, unused], dim=1)

    def extra_repr(self) -> str:
        """The sizes."""
        words, size = self.candidate.shape
        return f"words={words}, size={size}, slots={self.slots}"


def answers_beside(outputs: int, slots: int) -> int:
    """How many of a task's outputs are answers, where the others are "enough" and the slots."""
    if outputs <= slots + 1:
        raise UserError(
            f"memnn names facts, each of its {slots} slots and that they are enough, which a task with {outputs}"
            " outputs has not: write task babi-facts, and slots=50"
        )
    return outputs - slots - 1
