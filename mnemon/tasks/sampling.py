"""What the tasks draw, and how a prompt and its answer become a batch.

All is drawn from the generator that is passed, on its device, so a batch never depends on what ran before.

Letters: ``T`` time, ``B`` batch, ``C`` channels, ``P`` steps of the prompt, ``A`` steps of the answer,
``I`` input channels, ``O`` output channels, ``N`` rows of a data set, ``D`` rows drawn of it.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from mnemon.tasks.base import Batch

BATCHES_DRAWN = 8  # of rows that differ in length; one is taken


def draw_between(low: int, high: int, generator: torch.Generator) -> int:
    """A whole number drawn uniformly from ``low`` to ``high``, both included."""
    return int(torch.randint(low, high + 1, (), generator=generator, device=generator.device))


def neighbours_in_length(
    drawn: Int[Tensor, "D"], lengths: Int[Tensor, "N"], generator: torch.Generator
) -> Int[Tensor, "B"]:
    """One batch of the BATCHES_DRAWN that were drawn, all of about the same length, so that little is padded."""
    batch_size = len(drawn) // BATCHES_DRAWN
    first = batch_size * draw_between(0, BATCHES_DRAWN - 1, generator)
    return drawn[lengths[drawn].argsort(stable=True)][first : first + batch_size]


def shortest_first(lengths: Int[Tensor, "N"], batch_size: int) -> Iterator[Int[Tensor, "_"]]:
    """All rows in batches, so that little is padded."""
    order = lengths.argsort(stable=True)
    for first in range(0, len(order), batch_size):
        yield order[first : first + batch_size]


def draw_uniform(*shape: int, generator: torch.Generator) -> Float[Tensor, "..."]:
    """Numbers drawn uniformly from [0, 1)."""
    return torch.rand(shape, generator=generator, device=generator.device, dtype=torch.float32)


def draw_bits(*shape: int, generator: torch.Generator) -> Float[Tensor, "..."]:
    """Fair coins, 0 or 1."""
    return (draw_uniform(*shape, generator=generator) < 0.5).float()


def add_channels(items: Float[Tensor, "T B C"], count: int) -> Float[Tensor, "T B I"]:
    """The items followed by ``count`` channels of zeros."""
    return pad(items, (0, count))


def marker(like: Float[Tensor, "T B I"], channel: int, value: float = 1.0) -> Float[Tensor, "1 B I"]:
    """One step, as wide as ``like``, that is zero but for one channel."""
    step = like.new_zeros(1, *like.shape[1:])
    step[..., channel] = value
    return step


def prompt_then_answer(prompt: Float[Tensor, "P B I"], answer: Float[Tensor, "A B O"]) -> Batch:
    """The prompt, then zero input while the answer is asked."""
    asked = answer.new_ones(answer.shape[:2])
    return Batch(
        inputs=torch.cat([prompt, prompt.new_zeros(len(answer), *prompt.shape[1:])]),
        targets=torch.cat([answer.new_zeros(len(prompt), *answer.shape[1:]), answer]),
        mask=torch.cat([asked.new_zeros(prompt.shape[:2]), asked]),
    )
