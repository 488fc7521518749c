"""Which step's input each slot holds, and when it was overwritten.

Letters: ``T`` steps, ``N`` slots, ``W`` word.

A step changes a slot n by c_t(n) = ‖M_t(n) − M_{t−1}(n)‖ / (‖M_t(n)‖ + ‖M_{t−1}(n)‖): 1 where it was empty before or is
empty after, 0 where it is left alone, whatever the weighting said. Of what a slot holds, the share that is of step s is

    S_t(n, s) = (1 − c_t(n)) S_{t−1}(n, s) for s < t,      S_t(n, t) = c_t(n),

and a slot holds the input of the step with the largest share, where that is half or more. This is a way of looking at a
memory, not a part of any model: what is written at a step comes from the controller, which knows earlier inputs too,
and a row that a full stack moves to make room counts as written anew.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

NONE = -1  # the source of a slot that holds nothing in particular
FAINT = 0.02  # of the largest norm: a slot that is fainter counts as almost empty
CLEAR = 0.5


class Held(NamedTuple):
    """For each step and slot, whose input it holds, and how much of the slot that is."""

    sources: Int[Tensor, "T N"]
    shares: Float[Tensor, "T N"]


def changes(memory: Float[Tensor, "T N W"], first: Float[Tensor, "N"]) -> Float[Tensor, "T N"]:
    """c_t; what was there before the first step is not known, and its change is given."""
    norms = memory.norm(dim=2)
    moved = (memory[1:] - memory[:-1]).norm(dim=2)
    faint = FAINT * norms.amax()
    sums = norms[1:] + norms[:-1] + faint
    return torch.cat([first.clamp(0, 1).unsqueeze(0), torch.where(sums > 0, moved / sums, 0.0)])


def find_held(changed: Float[Tensor, "T N"]) -> Held:
    """Follow the shares of all steps in all slots."""
    steps, slots = changed.shape
    shares = changed.new_zeros(steps, slots)  # s, n
    sources, largest = [], []
    for step, change in enumerate(changed):
        shares = shares * (1 - change)
        shares[step] = change
        share, source = shares.max(0)
        sources.append(torch.where(share >= CLEAR, source, NONE))
        largest.append(share)
    return Held(torch.stack(sources), torch.stack(largest))
