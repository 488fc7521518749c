"""Reading a sparse distributed memory at noisy cues (thesis §2.4.4): wrong bits against noise, and against the radius.

A small circle has few locations in common with the circle of a cue that is off; a large one takes in what was stored by
others. The formula is the signal to noise of the access circles (:mod:`mnemon.associative.sparse_distributed`).
"""

import dataclasses
from dataclasses import dataclass

import torch

from mnemon.associative.sparse_distributed import SparseDistributedMemory, bit_error, random_bits
from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.training.seeding import batch_seed, generator_from


@dataclass(frozen=True, kw_only=True)
class SdmRecall:
    """``items`` random pairs; of a cue the first bits are flipped, which are as good as any."""

    bits: int = 256
    locations: int = 2_000
    items: int = 100
    radii: tuple[int, ...] = (100, 104, 108, 112, 116, 120)
    flips: tuple[int, ...] = (0, 10, 20, 30, 40, 50, 60, 70, 80)
    trials: int = 10

    def __post_init__(self) -> None:
        if min(self.bits, self.locations, self.items, self.trials) < 1:
            raise UserError("bits, locations, items and trials must be at least 1")
        if not self.radii or not self.flips or max(*self.radii, *self.flips) > self.bits:
            raise UserError(f"radii and flips must be numbers of bits, up to {self.bits}")

    def measure(self, seed: int) -> Measured:
        """One read at each cue, for every radius and number of flipped bits."""
        wrong = {radius: self._errors(radius, seed) for radius in self.radii}
        formula = {radius: [self._formula(radius, flips) for flips in self.flips] for radius in self.radii}
        noise = tuple(flips / self.bits for flips in self.flips)
        by_noise = tuple(
            Curve(name=f"radius {radius}", x=noise, measured=tuple(wrong[radius]), formula=tuple(formula[radius]))
            for radius in self.radii
        )
        by_radius = tuple(
            Curve(
                name=f"{flips} bits flipped",
                x=tuple(map(float, self.radii)),
                measured=tuple(wrong[radius][place] for radius in self.radii),
                formula=tuple(formula[radius][place] for radius in self.radii),
            )
            for place, flips in enumerate(self.flips)
            if place % 2 == 0
        )
        sizes = f"{self.items} items, {self.locations} locations"
        panels = (
            Panel(name=sizes, x_label="flipped bits of the cue / D", y_label="wrong bits of the read", curves=by_noise),
            Panel(name=f"D = {self.bits}", x_label="radius, bits", y_label="wrong bits of the read", curves=by_radius),
        )
        gaps = [
            abs(measured - said)
            for radius in self.radii
            for measured, said in zip(wrong[radius], formula[radius], strict=True)
        ]
        middle = len(self.flips) // 2
        metrics = {
            "largest_gap": max(gaps),
            "best_radius": float(min(self.radii, key=lambda radius: wrong[radius][middle])),
            "best_radius_by_formula": float(min(self.radii, key=lambda radius: formula[radius][middle])),
        }
        return Measured(panels=panels, metrics=metrics)

    def shortened(self, scale: float) -> "SdmRecall":
        """With fewer memories."""
        return dataclasses.replace(self, trials=shorten(self.trials, scale))

    def _formula(self, radius: int, flips: int) -> float:
        return bit_error(flips, bits=self.bits, radius=radius, locations=self.locations, items=self.items)

    def _errors(self, radius: int, seed: int) -> list[float]:
        """The share of wrong bits for each number of flips, over all trials."""
        wrong = torch.zeros(len(self.flips), dtype=torch.float64)
        for trial in range(self.trials):
            generator = generator_from(batch_seed(seed, f"radius {radius}", trial))
            addresses = random_bits(self.locations, self.bits, generator=generator)
            memory = SparseDistributedMemory(addresses=addresses, radius=radius)
            keys = random_bits(self.items, self.bits, generator=generator)
            values = random_bits(self.items, self.bits, generator=generator)
            counters = memory.store(keys, values)
            for place, flips in enumerate(self.flips):
                cues = torch.cat([1 - keys[:, :flips], keys[:, flips:]], dim=-1)
                wrong[place] += (memory.decode(cues, counters) != values).double().mean()
        return (wrong / self.trials).tolist()
