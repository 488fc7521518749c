"""How long a noisy linear network remembers (thesis §2.3.2, “Memory trace of recurrent networks”).

The Fisher memory curve J(k) of one network, by simulation, beside its formula: by eigenvalues where the network is
normal, in closed form for a delay line, else by the covariance of its noise. The curves are times ε, so that those of
different noise can be compared. With squashed units the simulation uses tanh, the formula still the identity.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.spectra import delay_line, orthogonal_matrix, random_matrix, symmetric_matrix
from mnemon.theory.fisher import (
    delay_line_curve,
    measured_memory_curve,
    memory_curve,
    normal_memory_curve,
    total_memory,
)
from mnemon.training.seeding import batch_seed, generator_from

Network = Literal["rotation", "symmetric", "random", "delay line"]
DRAW: dict[Network, Callable[[int, float, torch.Generator], Tensor]] = {
    "rotation": orthogonal_matrix,
    "symmetric": symmetric_matrix,
    "random": random_matrix,
}
SIZES = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, kw_only=True)
class FisherCurves:
    """One kind of network; ``radius`` is its spectral radius, ``power`` the α of a delay line, which has radius 0."""

    network: Network = "rotation"
    units: int = 50
    radius: float = 0.95
    power: float = 1.5
    noise: float = 1.0
    squashed: bool = False
    ages: int = 60
    trajectories: int = 4_000

    def __post_init__(self) -> None:
        if self.network not in get_args(Network):
            raise UserError(f"network must be one of {', '.join(get_args(Network))}, got {self.network!r}")
        if min(self.units, self.ages) < 1:
            raise UserError("units and ages must be at least 1")

    @property
    def name(self) -> str:
        """In the legend."""
        kind = f"delay line, α = {self.power:g}" if self.network == "delay line" else self.network
        return f"tanh, ε = {self.noise:g}" if self.squashed else kind

    def measure(self, seed: int) -> Measured:
        """Simulate, and sum up all ages."""
        recurrent, feed = self._draw(self.units, seed)
        measured = self.noise * measured_memory_curve(
            recurrent,
            feed,
            self.ages,
            generator=generator_from(batch_seed(seed, "noise", 0)),
            noise=self.noise,
            trajectories=self.trajectories,
            activation=torch.tanh if self.squashed else lambda net: net,
        )
        curve = Curve(
            name=self.name,
            x=tuple(map(float, range(self.ages))),
            measured=_without_zeros(measured),
            formula=_without_zeros(self._formula(recurrent, feed)),
        )
        units = "tanh units" if self.squashed else "linear units"
        panel = Panel(
            name=f"Fisher memory of {self.units} {units}",
            x_label="age of the signal, k",
            y_label="ε J(k)",
            curves=(curve,),
            y_scale="log",
        )
        whole = [] if self.squashed else [self._whole(seed)]
        metrics = {
            "total_measured": measured.sum().item(),
            "total": self.noise * total_memory(recurrent, feed, self.noise),
        }
        return Measured(panels=(panel, *whole), metrics=metrics)

    def shortened(self, scale: float) -> "FisherCurves":
        """With fewer trajectories, but more than units."""
        fewest = self.units + 50
        return dataclasses.replace(
            self, trajectories=max(min(fewest, self.trajectories), shorten(self.trajectories, scale))
        )

    def _whole(self, seed: int) -> Panel:
        """J_tot over the size of the network: the sum over all ages, beside 1/ε or the delay line's own."""
        totals = [total_memory(*self._draw(size, seed)) for size in SIZES]
        formula: list[float] | None = [1.0] * len(SIZES)
        if self.network == "delay line":
            formula = [delay_line_curve(size, self.power, size).sum().item() for size in SIZES]
        elif self.network == "random":
            formula = None
        curve = Curve(
            name=self.name,
            x=tuple(map(float, SIZES)),
            measured=tuple(totals),
            formula=None if formula is None else tuple(formula),
        )
        return Panel(
            name="Whole memory",
            x_label="units, N",
            y_label="ε Σ J(k), at most N",
            curves=(curve,),
            x_scale="log",
            y_scale="log",
        )

    def _draw(self, size: int, seed: int) -> tuple[Float[Tensor, "size size"], Float[Tensor, "size"]]:
        """W and v. A delay line is fed at its first unit, the others evenly at random."""
        if self.network == "delay line":
            return delay_line(size, self.power), torch.eye(size, dtype=torch.float64)[0]
        generator = generator_from(batch_seed(seed, self.network, size))
        feed = torch.randn(size, generator=generator, dtype=torch.float64)
        return DRAW[self.network](size, self.radius, generator), feed / feed.square().sum().sqrt()

    def _formula(self, recurrent: Float[Tensor, "N N"], feed: Float[Tensor, "N"]) -> Float[Tensor, "ages"]:
        if self.network == "delay line":
            return delay_line_curve(self.units, self.power, self.ages)
        if self.network == "random":
            return memory_curve(recurrent, feed, self.ages)
        return normal_memory_curve(recurrent, feed, self.ages)


def _without_zeros(curve: Float[Tensor, "ages"]) -> tuple[float, ...]:
    """Gaps for the ages of which nothing is left: 0 is nowhere on a logarithmic axis."""
    return tuple(value or math.nan for value in curve.tolist())
