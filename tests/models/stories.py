"""Small stories, and the sentences of a view as a loop finds them."""

import torch
from torch import Tensor

WORDS = 9


def draw_story(batch: int = 3, steps: int = 11, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Words of which every third or so ends a sentence; rows of different lengths, the last of them empty."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, WORDS, (steps, batch), generator=generator)
    tokens[torch.rand(steps, batch, generator=generator) < 0.3] = 0
    lengths = torch.randint(1, steps + 1, (batch,), generator=generator)
    lengths[0], lengths[-1] = steps, 0
    return tokens, lengths


def draw_question(batch: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(1, WORDS, (4, batch), generator=generator)
    tokens[3] = 0
    return tokens, torch.full((batch,), 4)


def draw_views(seed: int = 0) -> tuple[list[Tensor], list[Tensor]]:
    pairs = draw_story(seed=seed), draw_question(seed=seed)
    return [tokens for tokens, _ in pairs], [lengths for _, lengths in pairs]


def naive_sentences(tokens: list[int]) -> list[list[int]]:
    """The sentences of one row, the last first; of none there is nothing."""
    sentences: list[list[int]] = [[]]
    for token in tokens:
        if token == 0:
            sentences.append([])
        else:
            sentences[-1].append(token)
    while sentences and not sentences[-1]:
        sentences.pop()
    return sentences[::-1]


def naive_embed(sentence: list[int], weight: Tensor, positions: bool = True) -> Tensor:
    """Σ_j l_j ∘ A x_j."""
    size, count = weight.shape[1], len(sentence)
    total = torch.zeros(size, dtype=weight.dtype)
    for j, word in enumerate(sentence, start=1):
        for k in range(1, size + 1):
            scale = (1 - j / count) - (k / size) * (1 - 2 * j / count) if positions else 1.0
            total[k - 1] += scale * weight[word, k - 1]
    return total
