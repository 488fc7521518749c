"""Both engines on the same sequence: how far apart their outputs, final states and gradients are."""

from typing import Any

import torch
from torch import Tensor

from mnemon import MANN, MemoryCell
from mnemon.rnn import Engine
from mnemon.state import map_state


def flatten(state: tuple[Any, ...]) -> list[Tensor]:
    """The tensors of a state."""
    parts = [[part] if isinstance(part, Tensor) else flatten(part) for part in state]
    return [tensor for tensors in parts for tensor in tensors]


def outcome(cell: MemoryCell, engine: Engine, steps: int, batch: int, lengths: list[int] | None) -> list[Tensor]:
    """Output, final state and the gradients of parameters, inputs and initial state, in double precision.

    The sequence starts from a random state, away from the initial one, at which usages tie and the order of slots is a
    matter of rounding; every number that comes out has a random weight in what is differentiated.
    """
    generator = torch.Generator().manual_seed(1 + steps + 10 * batch)
    dtype = cell.controller.weight_ih.dtype

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(dtype)

    inputs = random(steps, batch, cell.input_size).requires_grad_()

    def disturb(part: Tensor) -> Tensor:
        if not part.is_floating_point():
            return part
        return (part.detach() + random(*part.shape).abs() / (1 + part.shape[-1])).requires_grad_()

    start = map_state(disturb, cell.init_state(batch))
    leaves = [*cell.parameters(), inputs, *(part for part in flatten(start) if part.is_floating_point())]
    asked = None if lengths is None else torch.tensor(lengths)
    output, state = MANN(cell, engine=engine)(inputs, start, lengths=asked)
    parts = [output, *flatten(state)]
    total = torch.stack([(part * random(*part.shape)).sum() for part in parts]).sum()
    gradients = torch.autograd.grad(total, leaves, allow_unused=True)
    unused = [torch.zeros_like(leaf) if part is None else part for leaf, part in zip(leaves, gradients, strict=True)]
    return [part.detach().double() for part in (*parts, *unused)]


def distance(one: list[Tensor], other: list[Tensor]) -> float:
    """The largest deviation, relative to the largest number of its tensor."""
    worst = 0.0
    for part, counterpart in zip(one, other, strict=True):
        assert counterpart.isfinite().all()
        if part.numel():
            scale = part.abs().max().clamp_min(1e-12)
            worst = max(worst, ((part - counterpart).abs().max() / scale).item())
    return worst
