"""Key-value memory network (thesis §3.3.2; Miller et al., 2016): what is looked in is not what is read.

Letters: ``B`` batch, ``T`` words of the story, ``V`` words of the vocabulary, ``D`` numbers of a vector, ``K`` hops,
``O`` answers, ``N`` sentences.

There is a slot for each word of a story. Its key is the sentence around the word, embedded by A, and the word itself,
embedded by a dictionary of its own for the word in the middle; its value is the word, embedded by A. The question is a
vector q, and in each hop

    p_i = softmax(qᵀ k_i),      o = Σ_i p_i v_i,      q ← R_j (q + o).

After the last hop ŷ = softmax(B q).

Deviations:
    The window around a word is its sentence, whatever its length, and its words are weighted by position as in MemN2N
        (:mod:`mnemon.models.sentences`); published it is a bag of a fixed number of words.
    Keys and values have a vector for the age of their sentence added, without which a story has no order. Published
        memories are facts of an encyclopaedia, which need none, and are first thinned out by an index.
    R_j is the identity at first, so that the first steps see what is read.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.memory.base import check_sizes
from mnemon.models.sentences import attend, bag_sentences, embed, find_places
from mnemon.models.stories import StoryNetwork, bag_question
from mnemon.trace import observe_hops


class KeyValueMemoryNetwork(StoryNetwork):
    """What is looked in is not what is read; see the module.

    Args:
        words: V, of both views.
        size: D.
        answers: O.
        slots: sentences whose words are kept, the last ones.
        hops: K.
    """

    def __init__(self, words: int, size: int, answers: int, *, slots: int = 50, hops: int = 2) -> None:
        super().__init__()
        check_sizes(words=words, size=size, answers=answers, slots=slots, hops=hops)
        self.slots = slots
        self.embedding = nn.Parameter(torch.empty(words, size))  # A
        self.centre = nn.Parameter(torch.empty(words, size))  # the word in the middle, in its key
        self.key_ages = nn.Parameter(torch.empty(slots, size))
        self.value_ages = nn.Parameter(torch.empty(slots, size))
        self.refine = nn.Parameter(torch.empty(hops, size, size))  # R_j
        self.output = nn.Linear(size, answers, bias=False)  # B
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """N(0, 0.1²), and the identity for R_j."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.1)
        with torch.no_grad():
            self.refine.copy_(torch.eye(self.refine.shape[1]).expand_as(self.refine))

    def read(
        self, views: Sequence[Int[Tensor, "_ B"]], lengths: Sequence[Int[Tensor, "B"] | None] | None = None
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "K B T"]]:
        """The query after the last hop, and the words at which each hop looked."""
        story, question = views
        told, asked = lengths or (None, None)
        words, kind = self.embedding.shape[0], self.embedding.dtype
        query = embed(bag_question(question, asked, words, kind, True), self.embedding)[:, 0]
        places = find_places(story, told)
        kept = bag_sentences(story, places, slots=self.slots, words=words, dtype=kind)
        valid = (places.inside & (places.age < self.slots)).T
        age = places.age.T.clamp(0, kept.valid.shape[1] - 1)
        around = embed(kept, self.embedding) + self.key_ages[: kept.valid.shape[1]]  # B N D
        keys = around.gather(1, age.unsqueeze(2).expand(-1, -1, around.shape[2])) + self.centre[story.T]
        values = self.embedding[story.T] + self.value_ages[age]
        weights = []
        for matrix in self.refine:
            weight = attend(query, keys, valid)
            query = (query + torch.einsum("bt,btd->bd", weight, values)) @ matrix.T
            weights.append(weight)
        observe_hops(self, torch.stack(weights))
        return query, torch.stack(weights)

    def extra_repr(self) -> str:
        """The sizes."""
        words, size = self.embedding.shape
        return f"words={words}, size={size}, slots={self.slots}, hops={len(self.refine)}"
