"""End-to-end memory network, MemN2N (thesis §3.3.2; Sukhbaatar et al., 2015): a story is read several times over.

Letters: ``B`` batch, ``T`` words of a view, ``N`` slots, ``V`` words of the vocabulary, ``D`` numbers of a vector,
``K`` hops, ``O`` answers.

The slots hold the sentences of a story, :mod:`mnemon.models.sentences`. The question is a vector u, and in each hop

    p_i = softmax(uᵀ m_i),      r = Σ_i p_i c_i,      u ← u + r   (adjacent)   or   u ← H u + r   (layer-wise),

where m_i and c_i are sentence i embedded by A and by C, each with a vector for its age added (temporal encoding). After
the last hop ŷ = softmax(W u). Adjacent: what hop k reads, C^k, is what the next looks in, A^{k+1}, and the question is
embedded by A^1. Layer-wise: A and C are those of all hops.

While it learns, ages have random gaps, so that they are not learnt by heart, and over a first share of the steps the
softmax is left out (linear start), after which it is less often caught in a poor minimum.

Deviations:
    The thesis prints this under the name of MemNN, which is :mod:`mnemon.models.supporting_facts`; its "trainable" c_i
        is C's.
    Slots without a sentence are not attended to; in the published programs their score is 0, as that of any other.
    W is a matrix of its own, as answers are not words: some have several. Published with adjacent weights it is C^K.
    Linear start ends after a share of the steps; published, when the validation loss no longer falls.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.sentences import Places, attend, bag_sentences, embed, embed_with_each, find_places, over_words
from mnemon.models.stories import StoryNetwork, bag_question
from mnemon.trace import is_recording, observe_hops

Tying = Literal["adjacent", "layer-wise"]


class MemN2N(StoryNetwork):
    """A story is read several times over; see the module.

    Args:
        words: V, of both views.
        size: D.
        answers: O.
        slots: sentences that are kept, the last ones.
        hops: K.
        tying: which weights the hops share.
        positions: weight words by where they stand in their sentence.
        gaps: the share of ages that are skipped while the model learns.
        linear_start: the first share of the steps, without softmax.
    """

    def __init__(
        self,
        words: int,
        size: int,
        answers: int,
        *,
        slots: int = 50,
        hops: int = 3,
        tying: Tying = "adjacent",
        positions: bool = True,
        gaps: float = 0.1,
        linear_start: float = 0.0,
    ) -> None:
        super().__init__()
        check_sizes(words=words, size=size, answers=answers, slots=slots, hops=hops)
        if tying not in get_args(Tying):
            raise UserError(f"tying is {tying!r}: write {' or '.join(map(repr, get_args(Tying)))}")
        for name, share in {"gaps": gaps, "linear_start": linear_start}.items():
            if not 0 <= share < 1:
                raise UserError(f"{name} is {share}: write a number from 0 to below 1")
        self.hops, self.slots, self.positions, self.gaps = hops, slots, positions, gaps
        self.linear_start = linear_start
        self.linear = False
        self.tying: Tying = tying
        embeddings = hops + 1 if tying == "adjacent" else 2
        self.embeddings = nn.Parameter(torch.empty(embeddings, words, size))  # A^1, C^1 = A^2, …; or A, C
        self.ages = nn.Parameter(torch.empty(embeddings, slots, size))
        self.refine = nn.Parameter(torch.empty(size, size)) if tying == "layer-wise" else None  # H
        self.output = nn.Linear(size, answers, bias=False)  # W
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """N(0, 0.1²)."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.1)

    def begin_step(self, step: int, steps: int) -> None:
        """Called before each step of training, the first being 1: whether the softmax is left out yet."""
        self.linear = step <= self.linear_start * steps

    def read(
        self, views: Sequence[Int[Tensor, "_ B"]], lengths: Sequence[Int[Tensor, "B"] | None] | None = None
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "K B N"]]:
        """The query after the last hop, and where each hop looked."""
        words, kind = self.embeddings.shape[1], self.embeddings.dtype
        story, question = views
        told, asked = lengths or (None, None)
        places = self._with_gaps(find_places(story, told))
        kept = bag_sentences(story, places, slots=self.slots, words=words, dtype=kind, positions=self.positions)
        query = embed(bag_question(question, asked, words, kind, self.positions), self.embeddings[0])[:, 0]
        embedded = embed_with_each(kept, self.embeddings) + self.ages[:, : kept.valid.shape[1]].unsqueeze(1)
        weights = []
        for hop in range(self.hops):
            keys, values = embedded[hop : hop + 2] if self.tying == "adjacent" else embedded
            weight = attend(query, keys, kept.valid, linear=self.linear)
            read = torch.einsum("bn,bnd->bd", weight, values)
            query = read + (query if self.refine is None else query @ self.refine.T)
            weights.append(weight)
        if is_recording():
            observe_hops(self, over_words(torch.stack(weights), places))
        return query, torch.stack(weights)

    def _with_gaps(self, places: Places) -> Places:
        """Some ages skipped, in each row others: a sentence seems older by the gaps after it."""
        if not self.training or not self.gaps:
            return places
        shape = (self.slots, places.age.shape[1])
        gaps = (torch.rand(shape, device=places.age.device) < self.gaps).long().cumsum(0)
        return places._replace(age=places.age + gaps.gather(0, places.age.clamp(0, self.slots - 1)))

    def extra_repr(self) -> str:
        """The sizes."""
        words, size = self.embeddings.shape[1:]
        return f"words={words}, size={size}, slots={self.slots}, hops={self.hops}, tying={self.tying!r}"
