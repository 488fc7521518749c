"""A correlation matrix memory with keys that resemble each other: Hebb mixes the values up, Widrow–Hoff does not.

Run with: python examples/correlation.py
"""

import torch
from torch.nn import functional

from mnemon.associative.correlation import least_squares, outer_products, recall, widrow_hoff

generator = torch.Generator().manual_seed(0)
common = torch.randn(1, 32, generator=generator)  # what all keys share
keys = functional.normalize(common + torch.randn(8, 32, generator=generator), dim=-1)
values = torch.randn(8, 4, generator=generator)


def error(memory: torch.Tensor) -> float:
    """Mean square of what is recalled beside what was stored."""
    return float((recall(memory, keys) - values).square().mean())


print(f"values have a mean square of {float(values.square().mean()):.3f}; errors of recall:")
print(f"  Hebb, M = Σ y xᵀ            {error(outer_products(keys, values)):.3f}")
for sweeps in (1, 10, 100):
    learnt = widrow_hoff(torch.zeros(4, 32), keys, values, sweeps=sweeps)
    print(f"  Widrow–Hoff, {sweeps:3d} sweeps     {error(learnt):.3f}")
print(f"  least squares, its end      {error(least_squares(keys, values)):.3f}")
