"""The read-out of a reservoir, the only part that learns: linear, and fitted in closed form (thesis §2.3.2).

Letters: ``T`` time, ``B`` batch, ``N`` units, ``O`` outputs, ``K`` ages.

Ridge regression finds the weights that make Σ ‖y − A x − b‖² + ridge ‖A‖² least: A = Yᵀ X (Xᵀ X + ridge I)⁻¹, where X
and Y are states and targets less their means; b is free.

The memory capacity of a reservoir (Jaeger, 2002) says how much of its past input can be read out of one state: the sum
over ages k of the squared correlation between u(t − k) and the best read-out for it. It is at most N.
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.reservoir.base import Reservoir


def fit_readout(
    states: Float[Tensor, "*steps N"], targets: Float[Tensor, "*steps O"], *, ridge: float = 1e-6
) -> nn.Linear:
    """The linear layer that gives the targets from the states as nearly as the ridge lets it.

    Computed in float64 from the states themselves, whose square would lose half the digits.

    Args:
        states: what the reservoir gave; leave out its first steps, while it still forgets how it began.
        targets: what is to be read from each.
        ridge: how much large weights cost.
    """
    if not 0 < ridge < math.inf:
        raise UserError(f"ridge must be above 0, got {ridge}: write a small one, such as 1e-9, for hardly any")
    if states.shape[:-1] != targets.shape[:-1] or not states.numel():
        raise UserError(
            f"states and targets must have the same steps, at least one, got {tuple(states.shape)} "
            f"and {tuple(targets.shape)}"
        )
    rows, wanted = states.detach().flatten(0, -2).double(), targets.detach().flatten(0, -2).double()
    row_mean, wanted_mean = rows.mean(0), wanted.mean(0)
    units, outputs = rows.shape[1], wanted.shape[1]
    penalty = math.sqrt(ridge) * torch.eye(units, dtype=torch.float64, device=rows.device)
    left = torch.cat([rows - row_mean, penalty])
    right = torch.cat([wanted - wanted_mean, wanted.new_zeros(units, outputs)])
    weight: Tensor = torch.linalg.lstsq(left, right).solution.T
    layer = nn.Linear(units, outputs, device=states.device, dtype=states.dtype)
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(wanted_mean - weight @ row_mean)
    return layer


def memory_capacity(
    reservoir: Reservoir[Any],
    ages: int,
    *,
    generator: torch.Generator,
    steps: int = 2000,
    washout: int = 200,
    ridge: float = 1e-9,
) -> Float[Tensor, "ages"]:
    """The squared correlation of u(t − k) with its best read-out, for k = 0 … ages − 1; their sum is the capacity.

    The input is white, U(±1). Read-outs are fitted to so many steps and judged by as many later ones.
    """
    if reservoir.input_size != 1:
        raise UserError(f"memory capacity is that of one input, this reservoir has {reservoir.input_size}")
    if ages < 1 or steps < 2 or washout < ages - 1:
        raise UserError(
            f"ages must be at least 1, steps at least 2 and washout at least ages − 1, got {ages}, {steps}, {washout}"
        )
    drawn = torch.rand(washout + 2 * steps, 1, 1, generator=generator, dtype=torch.float64) * 2 - 1
    inputs = drawn.to(reservoir.weight_hh)
    with torch.no_grad():
        states = reservoir(inputs)[0][washout:, 0]
    past = torch.cat([inputs[washout - age : len(inputs) - age, 0] for age in range(ages)], dim=1)
    layer = fit_readout(states[:steps], past[:steps], ridge=ridge)
    with torch.no_grad():
        read = layer(states[steps:])
    return _squared_correlations(read.double(), past[steps:].double())


def _squared_correlations(left: Float[Tensor, "T K"], right: Float[Tensor, "T K"]) -> Float[Tensor, "K"]:
    """Of each column with its fellow; 0 for a column that does not change."""
    left, right = left - left.mean(0), right - right.mean(0)
    product = torch.einsum("tk,tk->k", left, right).square()
    return product / (left.square().sum(0) * right.square().sum(0)).clamp(min=1e-300)
