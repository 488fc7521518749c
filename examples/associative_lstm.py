"""What copies are for: an associative LSTM keeps pairs in traces of a fixed size, and noise falls with their number.

First its memory by itself: Q values are stored under random keys of modulus one and asked for with the inverse keys;
the mean squared error is about Q/S. Then the cell, used as any other controller.

Run with: python examples/associative_lstm.py
"""

import math

import torch
from torch import Tensor

from mnemon import MANN, AssociativeLSTMController, MemoryCell, NoMemory
from mnemon.controllers.associative_lstm import multiply, permute

UNITS = 128


def random_phases(items: int, generator: torch.Generator) -> Tensor:
    """Complex numbers of modulus one: items, real and imaginary part, units."""
    phases = 2 * math.pi * torch.rand(items, UNITS, generator=generator)
    return torch.stack([phases.cos(), phases.sin()], dim=1)


def retrieval_error(items: int, copies: int, seed: int = 0) -> float:
    """The mean squared error of what is retrieved."""
    generator = torch.Generator().manual_seed(seed)
    keys, values = random_phases(items, generator), random_phases(items, generator)
    permutations = torch.stack([torch.randperm(UNITS, generator=generator) for _ in range(copies)])
    traces = multiply(permute(keys, permutations), values.unsqueeze(1)).sum(0, keepdim=True)  # all in one
    inverse = keys * torch.tensor([[1.0], [-1.0]])
    retrieved = multiply(permute(inverse, permutations), traces).mean(1)
    return float((retrieved - values).square().sum(1).mean())


if __name__ == "__main__":
    print("items  " + "".join(f"{copies:>3} copies" for copies in (1, 4, 16)))
    for items in (2, 8, 32):
        print(f"{items:>5}  " + "".join(f"{retrieval_error(items, copies):>10.2f}" for copies in (1, 4, 16)))
    network = MANN(MemoryCell(AssociativeLSTMController(10, 64, copies=8), NoMemory(), output_size=3))
    output, state = network(torch.randn(50, 2, 10))
    print(f"output {tuple(output.shape)}, traces {tuple(state.controller.traces.shape)}")
