"""How far back a Legendre memory hears: a noise of slow waves, recalled at delays from nothing to the whole window.

More coefficients tell more of the window. Past it there is nothing to recall.

Run with: python examples/legendre_memory.py
"""

import math

import torch
from torch import Tensor

from mnemon import LegendreMemory

WINDOW, STEPS = 100, 400
DELAYS = torch.tensor([0.0, 25.0, 50.0, 75.0, 100.0])


def slow_noise(times: Tensor, seed: int) -> Tensor:
    """A sum of waves whose periods lie between 60 and 300 steps."""
    generator = torch.Generator().manual_seed(seed)
    periods = 60 + 240 * torch.rand(8, generator=generator)
    phases = 2 * math.pi * torch.rand(8, generator=generator)
    return torch.sin(2 * math.pi * times.unsqueeze(1) / periods + phases).mean(1)


def errors(order: int, seed: int) -> list[float]:
    """The mean absolute error at each delay, over the second half of the steps."""
    memory = LegendreMemory(order, 1, WINDOW)
    signal = slow_noise(torch.arange(STEPS) + 0.5, seed)  # an input is held for a step: its middle
    state = memory.init_state(1)
    misses = []
    for step in range(STEPS):
        state = memory(memory.parse(signal[step].view(1, 1)), state)
        if step >= STEPS // 2:
            truth = slow_noise(step + 1 - DELAYS, seed)
            misses.append((memory.recall(state, DELAYS)[0, :, 0] - truth).abs())
    return torch.stack(misses).mean(0).tolist()  # type: ignore[no-any-return]


if __name__ == "__main__":
    for order in (2, 4, 8):
        shown = ", ".join(f"{miss:.3f} at {delay:.0f}" for miss, delay in zip(errors(order, 0), DELAYS, strict=True))
        print(f"order {order}: mean error {shown} steps")
