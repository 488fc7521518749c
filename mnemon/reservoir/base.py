"""What reservoirs share: fixed random weights, drawn from a seed, and the way over a sequence.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``N`` units.

A reservoir has the manners of nn.RNN: ``states, last = reservoir(inputs)``, then ``reservoir(more, last)``. Its weights
are buffers: they are saved, move between devices and get no gradient.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.errors import UserError

State = TypeVar("State", bound=tuple[Tensor, ...])


@dataclass(frozen=True, kw_only=True)
class ReservoirConfig:
    """The random weights of a reservoir."""

    units: int  # N
    radius: float = 0.9  # ρ, the spectral radius of the recurrent weights
    density: float = 0.1  # the share of recurrent weights that are not zero
    input_scale: float = 1.0  # input weights are U(± this)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.units < 1:
            raise UserError(f"units must be at least 1, got {self.units}")
        if not 0 <= self.radius < math.inf:
            raise UserError(f"radius must be finite and at least 0, got {self.radius}")
        if not 0 < self.density <= 1:
            raise UserError(f"density must be above 0 and at most 1, got {self.density}")
        if not 0 <= self.input_scale < math.inf:
            raise UserError(f"input_scale must be finite and at least 0, got {self.input_scale}")


class Reservoir(nn.Module, ABC, Generic[State]):
    """Random units that echo their input; only what reads them is trained.

    Args:
        input_size: I.
        config: how the weights are drawn.
        device: where they live.
        dtype: their floating point type.
    """

    weight_ih: Tensor  # V
    weight_hh: Tensor  # W

    def __init__(
        self,
        input_size: int,
        config: ReservoirConfig,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if input_size < 1:
            raise UserError(f"input_size must be at least 1, got {input_size}")
        self.input_size, self.config = input_size, config
        generator = torch.Generator().manual_seed(config.seed)
        recurrent = self._draw_recurrent(generator)
        entering = torch.rand(config.units, input_size, generator=generator, dtype=torch.float64) * 2 - 1
        kind = torch.get_default_dtype() if dtype is None else dtype
        self.register_buffer("weight_hh", recurrent.to(device=device, dtype=kind))
        self.register_buffer("weight_ih", (config.input_scale * entering).to(device=device, dtype=kind))

    @abstractmethod
    def _draw_recurrent(self, generator: torch.Generator) -> Float[Tensor, "N N"]:
        """W, in float64."""

    @abstractmethod
    def init_state(self, batch: int) -> State:
        """At rest."""

    @abstractmethod
    def step(self, drive: Float[Tensor, "B N"], state: State) -> State:
        """One step, where V u_t is the drive; the first part of the new state is what is read."""

    def forward(
        self, inputs: Float[Tensor, "T B I"], state: State | None = None
    ) -> tuple[Float[Tensor, "T B N"], State]:
        """What can be read after each step, and the last state."""
        if inputs.dim() != 3 or inputs.shape[2] != self.input_size or not len(inputs):
            raise UserError(
                f"inputs must be of shape (T, B, {self.input_size}) with T at least 1, got {tuple(inputs.shape)}"
            )
        state = self.init_state(inputs.shape[1]) if state is None else state
        read = []
        for drive in F.linear(inputs, self.weight_ih):
            state = self.step(drive, state)
            read.append(state[0])
        return torch.stack(read), state

    def extra_repr(self) -> str:
        """As torch.nn prints a layer."""
        return f"{self.input_size}, {self.config}"
