"""Echo state network (Jaeger and Haas, 2004; named beside liquid state machines in thesis §2.3.2).

Letters: ``B`` batch, ``N`` units.

    x_t = (1 − α) x_{t−1} + α tanh(W x_{t−1} + V u_t)

W and V are drawn once and stay. The state must forget where it began, so that it echoes the input alone: this is so for
all inputs where the largest singular value of W is below 1, and as a rule where its spectral radius is.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.reservoir.base import Reservoir, ReservoirConfig
from mnemon.spectra import random_matrix


class EchoState(NamedTuple):
    """What the network carries."""

    hidden: Float[Tensor, "B N"]  # x_t


class EchoStateNetwork(Reservoir[EchoState]):
    """Leaky tanh units with sparse random connections.

    Args:
        input_size: I.
        config: how the weights are drawn.
        leak: α; 1 keeps nothing of x_{t−1} but through W, less makes slower units.
        linear: leave out tanh; such a network remembers most, and computes nothing.
        device: where the weights live.
        dtype: their floating point type.
    """

    def __init__(
        self,
        input_size: int,
        config: ReservoirConfig,
        *,
        leak: float = 1.0,
        linear: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(input_size, config, device=device, dtype=dtype)
        if not 0 < leak <= 1:
            raise UserError(f"leak must be above 0 and at most 1, got {leak}")
        self.leak, self.linear = leak, linear

    def _draw_recurrent(self, generator: torch.Generator) -> Float[Tensor, "N N"]:
        return random_matrix(self.config.units, self.config.radius, generator, density=self.config.density)

    def init_state(self, batch: int) -> EchoState:
        """All units 0."""
        return EchoState(self.weight_hh.new_zeros(batch, self.config.units))

    def step(self, drive: Float[Tensor, "B N"], state: EchoState) -> EchoState:
        """One step."""
        net = torch.einsum("nm,bm->bn", self.weight_hh, state.hidden) + drive
        return EchoState(torch.lerp(state.hidden, net if self.linear else torch.tanh(net), self.leak))
