"""Liquid state machine: a reservoir of spiking neurons (thesis §2.3.2; Maass, Natschläger and Markram, 2002).

Letters: ``B`` batch, ``N`` neurons.

A leaky neuron sums what it receives and fires where the sum reaches 1, which puts it back to 0:

    p_t = β p_{t−1} (1 − z_{t−1}) + W z_{t−1} + V u_t       potential
    z_t = 1 where p_t ≥ 1, else 0                           spikes
    x_t = γ x_{t−1} + (1 − γ) z_t                           liquid state, what the read-out sees

Four neurons in five excite, the others inhibit: all connections that leave a neuron have its sign.

Deviations: time is in steps, connections do not depend on a place in space, and synapses have no dynamics of their own,
all of which Maass's model has and the thesis does not describe.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.reservoir.base import Reservoir, ReservoirConfig
from mnemon.spectra import random_matrix, rescaled

EXCITING = 0.8  # the share of neurons


class LiquidState(NamedTuple):
    """What the liquid carries."""

    liquid: Float[Tensor, "B N"]  # x_t, between 0 and 1
    potential: Float[Tensor, "B N"]  # p_t
    spikes: Float[Tensor, "B N"]  # z_t


class LiquidStateMachine(Reservoir[LiquidState]):
    """Leaky integrate-and-fire neurons with sparse random connections.

    Args:
        input_size: I.
        config: how the weights are drawn.
        membrane: β, what a potential keeps at each step.
        trace: γ, what the liquid state keeps at each step.
        device: where the weights live.
        dtype: their floating point type.
    """

    def __init__(
        self,
        input_size: int,
        config: ReservoirConfig,
        *,
        membrane: float = 0.5,
        trace: float = 0.6,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, config, device=device, dtype=dtype)
        for name, share in (("membrane", membrane), ("trace", trace)):
            if not 0 <= share < 1:
                raise UserError(f"{name} must be at least 0 and below 1, got {share}")
        self.membrane, self.trace = membrane, trace

    def _draw_recurrent(self, generator: torch.Generator) -> Float[Tensor, "N N"]:
        units = self.config.units
        drawn = random_matrix(units, 1.0, generator, density=self.config.density)
        signs = torch.where(torch.arange(units) < math.ceil(EXCITING * units), 1.0, -1.0)
        return rescaled(drawn.abs() * signs, self.config.radius)

    def init_state(self, batch: int) -> LiquidState:
        """All neurons silent."""
        zeros = self.weight_hh.new_zeros(batch, self.config.units)
        return LiquidState(zeros, zeros, zeros)

    def step(self, drive: Float[Tensor, "B N"], state: LiquidState) -> LiquidState:
        """One step."""
        received = torch.einsum("nm,bm->bn", self.weight_hh, state.spikes) + drive
        potential = self.membrane * state.potential * (1 - state.spikes) + received
        spikes = (potential >= 1).to(potential.dtype)
        return LiquidState(torch.lerp(spikes, state.liquid, self.trace), potential, spikes)
