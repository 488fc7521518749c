"""Stories as memory networks keep them: one slot for each sentence, the last sentence first (Sukhbaatar et al., 2015).

Letters: ``T`` words of a view, ``B`` batch, ``N`` slots, ``V`` words of the vocabulary, ``D`` numbers of a vector.

A view is a row of words in which the token 0 ends a sentence; the slot of a sentence is its age, how many sentences
came after it. A sentence x_1 … x_J is embedded by A as the sum of its words, each weighted by where it stands,

    m = Σ_j l_j ∘ A x_j,      l_kj = (1 − j/J) − (k/D)(1 − 2j/J)      for k = 1 … D.

As l is 1 − j/J and a multiple of 2j/J − 1, this is a ∘ A + (k/D) ∘ (c A) with two bags of words, a and c, that hold
these numbers; they do not depend on A, and are made once for all embeddings.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

END = 0  # the token that ends a sentence


class Places(NamedTuple):
    """Where each word of a view stands."""

    age: Int[Tensor, "T B"]  # of its sentence, 0 being the last
    inside: Bool[Tensor, "T B"]  # a word of the row, and no end
    step: Int[Tensor, "T B"]  # j, the first being 1
    size: Int[Tensor, "T B"]  # J


class Sentences(NamedTuple):
    """A story as bags of words."""

    level: Float[Tensor, "B N V"]  # a, the sum of 1 − j/J
    slope: Float[Tensor, "B N V"]  # c, the sum of 2j/J − 1
    valid: Bool[Tensor, "B N"]  # the slots in which there are words


def find_places(tokens: Int[Tensor, "T B"], lengths: Int[Tensor, "B"] | None) -> Places:
    """Cut a view into sentences. Words after the last end are a sentence too."""
    steps = torch.arange(len(tokens), device=tokens.device).unsqueeze(1)
    there = torch.ones_like(tokens, dtype=torch.bool) if lengths is None else steps < lengths.to(tokens.device)
    ends = (tokens == END) & there
    inside = there & ~ends
    number = ends.long().cumsum(0) - ends.long()
    count = torch.where(inside, number + 1, 0).amax(0) if len(tokens) else number.sum(0)
    after_end = torch.where(ends, steps + 1, 0)
    start = torch.cat([torch.zeros_like(after_end[:1]), after_end[:-1].cummax(0).values])
    sizes = torch.zeros(len(tokens) + 1, tokens.shape[1], dtype=torch.int64, device=tokens.device)
    sizes = sizes.scatter_add(0, number, inside.long())
    return Places(count - 1 - number, inside, steps - start + 1, sizes.gather(0, number))


def bag_sentences(
    tokens: Int[Tensor, "T B"],
    places: Places,
    *,
    slots: int,
    words: int,
    dtype: torch.dtype,
    positions: bool = True,
) -> Sentences:
    """The bags of the last ``slots`` sentences; without positions each word counts 1.

    There are only as many slots as the batch needs, and at least one.
    """
    rows = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    kept = places.inside & (places.age < slots)
    age, row, word = places.age[kept], rows[kept], tokens[kept]
    used = int(age.max()) + 1 if len(age) else 1
    share = places.step[kept].to(dtype) / places.size[kept]
    flat = (row * used + age) * words + word
    shape = (tokens.shape[1], used, words)

    def bag(values: Float[Tensor, "_"]) -> Float[Tensor, "B N V"]:
        empty = torch.zeros(shape, dtype=dtype, device=tokens.device)
        return empty.view(-1).scatter_add(0, flat, values).view(shape)

    valid = torch.zeros(shape[:2], dtype=torch.bool, device=tokens.device)
    valid[row, age] = True
    if not positions:
        return Sentences(bag(torch.ones_like(share)), torch.zeros(shape, dtype=dtype, device=tokens.device), valid)
    return Sentences(bag(1 - share), bag(2 * share - 1), valid)


def over_words(weights: Float[Tensor, "K B N"], places: Places) -> Float[Tensor, "K B T"]:
    """For each word the weight of its sentence; 0 at ends, and for sentences that are too old to be kept."""
    age = places.age.T
    kept = (places.inside & (places.age < weights.shape[2])).T
    found = weights.gather(2, age.clamp(0, weights.shape[2] - 1).expand(len(weights), -1, -1))
    return found * kept


def embed_with_each(sentences: Sentences, weights: Float[Tensor, "K V D"]) -> Float[Tensor, "K B N D"]:
    """Each sentence as a vector, by each of several embeddings at once."""
    size = weights.shape[2]
    ramp = torch.arange(1, size + 1, device=weights.device, dtype=weights.dtype) / size  # k/D
    level = torch.einsum("bnv,kvd->kbnd", sentences.level, weights)
    return level + ramp * torch.einsum("bnv,kvd->kbnd", sentences.slope, weights)


def embed(sentences: Sentences, weight: Float[Tensor, "V D"]) -> Float[Tensor, "B N D"]:
    """Each sentence as a vector."""
    return embed_with_each(sentences, weight.unsqueeze(0))[0]


def attend(
    query: Float[Tensor, "B D"], keys: Float[Tensor, "B N D"], valid: Bool[Tensor, "B N"], *, linear: bool = False
) -> Float[Tensor, "B N"]:
    """p = softmax(uᵀ m_i) over the slots there are, or uᵀ m_i itself; all zero where there are none."""
    scores = torch.einsum("bd,bnd->bn", query, keys)
    if linear:
        return scores * valid
    return torch.softmax(scores.masked_fill(~valid, torch.finfo(scores.dtype).min), dim=1) * valid
