"""How many patterns a Hopfield network holds (thesis §2.3.1): wrong units against the load Q/N.

Started from a stored pattern, a share ½ erfc(√(N/2Q)) of the units flips in one step: 1 % of them at Q = 0.18 N, which
is the thesis's capacity. Left to settle, the network stays near the pattern up to 0.138 N and loses it beyond.
"""

import dataclasses
from dataclasses import dataclass

import torch

from mnemon.associative.hopfield import (
    CAPACITY,
    ONE_PERCENT,
    hebbian_weights,
    one_step_error,
    settle,
    settled_error,
    update_all,
)
from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.laws.crossing import crossing
from mnemon.training.seeding import batch_seed, generator_from

LOST = 0.1  # wrong units after settling: far above 1.6 %, where the theory ends, and far below those of a lost pattern


@dataclass(frozen=True, kw_only=True)
class HopfieldCapacity:
    """Networks of ``units`` units with random patterns; of each, ``probes`` patterns are recalled."""

    units: int = 1_000
    loads: tuple[float, ...] = (0.05, 0.08, 0.1, 0.12, 0.13, 0.137, 0.145, 0.16, 0.17, 0.185, 0.2, 0.25, 0.3)
    probes: int = 25
    trials: int = 4

    def __post_init__(self) -> None:
        if min(self.units, self.probes, self.trials) < 1:
            raise UserError("units, probes and trials must be at least 1")
        if not self.loads or min(self.loads) * self.units < 1:
            raise UserError("each load must make at least one pattern: write shares of the units such as 0.1")

    def measure(self, seed: int) -> Measured:
        """Recall from the patterns themselves, in one step and until nothing changes."""
        counts = [round(load * self.units) for load in self.loads]
        loads = tuple(count / self.units for count in counts)
        errors = [self._errors(count, seed) for count in counts]
        once, settled = tuple(first for first, _ in errors), tuple(last for _, last in errors)
        curves = (
            Curve(
                name="one step",
                x=loads,
                measured=once,
                formula=tuple(one_step_error(count, self.units) for count in counts),
            ),
            Curve(name="settled", x=loads, measured=settled, formula=tuple(map(settled_error, loads))),
        )
        panel = Panel(
            name=f"Hopfield network of {self.units} units",
            x_label="patterns / units, Q/N",
            y_label="share of wrong units",
            curves=curves,
            y_scale="log",
            marks={"0.138": CAPACITY, "0.185: 1 % in one step": ONE_PERCENT},
        )
        metrics = {
            "load_at_1%_in_one_step": crossing(loads, once, 0.01),
            "load_where_settling_loses_patterns": crossing(loads, settled, LOST),
        }
        return Measured(panels=(panel,), metrics=metrics)

    def shortened(self, scale: float) -> "HopfieldCapacity":
        """With fewer networks."""
        return dataclasses.replace(self, trials=shorten(self.trials, scale))

    def _errors(self, count: int, seed: int) -> tuple[float, float]:
        """The shares of wrong units after one step and after settling, over all trials."""
        once = settled = probed = 0
        for trial in range(self.trials):
            generator = generator_from(batch_seed(seed, f"{count} patterns", trial))
            patterns = torch.randint(0, 2, (count, self.units), generator=generator).float() * 2 - 1
            weights, probes = hebbian_weights(patterns), patterns[: self.probes]
            once += int((update_all(weights, probes) != probes).sum())
            settled += int(
                (settle(weights, probes, order=torch.randperm(self.units, generator=generator)).states != probes).sum()
            )
            probed += probes.numel()
        return once / probed, settled / probed
