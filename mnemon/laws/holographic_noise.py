"""The noise of a holographic memory with redundant copies (thesis §2.4.2): O(Q/S), whatever Q and S are.

Two panels: the mean square of what is recalled beside what was stored, and how often clean-up among ``items`` values
then takes a wrong one. For the latter the right item's score is 1 with a Gaussian error of variance σ²/2N, any other's
0 with (1 + σ²)/2N, where σ² is the noise; the right one must beat all others.
"""

import dataclasses
import math
from dataclasses import dataclass

import torch

from mnemon.associative.holographic import clean_up, random_phases
from mnemon.associative.redundant import RedundantMemory, noise_variance, random_permutations
from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.training.seeding import batch_seed, generator_from

PLACES = 400  # at which the integral over the right item's error is taken
WIDTH = 8.0  # standard deviations to both sides


@dataclass(frozen=True, kw_only=True)
class HolographicNoise:
    """Q/S pairs a copy, for several S; keys and values are random phases, the values being the first of the items."""

    size: int = 128
    copies: tuple[int, ...] = (1, 4, 16)
    pairs_per_copy: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
    items: int = 512
    trials: int = 20

    def __post_init__(self) -> None:
        if min(self.size, self.items, self.trials, *self.copies) < 1:
            raise UserError("size, items, trials and copies must be at least 1")
        most = round(max(self.copies) * max(self.pairs_per_copy))
        if most > self.items:
            raise UserError(f"{most} pairs need as many items, not {self.items}: write items={most}")

    def measure(self, seed: int) -> Measured:
        """Store, recall, and compare."""
        noise, errors = [], []
        for copies in self.copies:
            counts = [round(copies * share) for share in self.pairs_per_copy if copies * share >= 2]
            loads = tuple(count / copies for count in counts)
            variances = tuple(noise_variance(count, copies, self.size) for count in counts)
            found = [self._recall(count, copies, seed) for count in counts]
            name = "one copy" if copies == 1 else f"{copies} copies"
            noise.append(Curve(name=name, x=loads, measured=tuple(each for each, _ in found), formula=variances))
            wrong = tuple(clean_up_error(variance, self.size, self.items) for variance in variances)
            errors.append(Curve(name=name, x=loads, measured=tuple(each for _, each in found), formula=wrong))
        label = "pairs / copies, Q/S"
        panels = (
            Panel(
                name=f"Noise of an element, N = {self.size}",
                x_label=label,
                y_label="mean square",
                curves=tuple(noise),
                x_scale="log",
                y_scale="log",
            ),
            Panel(
                name=f"Clean-up among {self.items} items",
                x_label=label,
                y_label="share of wrong items",
                curves=tuple(errors),
                x_scale="log",
            ),
        )
        metrics = {"noise_by_formula": _mean_ratio(noise), "largest_gap_in_wrong_items": _largest_gap(errors)}
        return Measured(panels=panels, metrics=metrics)

    def shortened(self, scale: float) -> "HolographicNoise":
        """With fewer memories."""
        return dataclasses.replace(self, trials=shorten(self.trials, scale))

    def _recall(self, pairs: int, copies: int, seed: int) -> tuple[float, float]:
        """The mean square of the noise, and the share of wrong items, over all trials."""
        noise = wrong = 0.0
        for trial in range(self.trials):
            generator = generator_from(batch_seed(seed, f"{pairs} pairs, {copies} copies", trial))
            memory = RedundantMemory(permutations=random_permutations(copies, self.size, generator=generator))
            keys = random_phases(pairs, self.size, generator=generator)
            items = random_phases(self.items, self.size, generator=generator)
            recalled = memory.decode(keys, memory.store(keys, items[:pairs]))
            noise += float((recalled - items[:pairs]).abs().square().mean())
            wrong += float((clean_up(recalled, items) != torch.arange(pairs)).double().mean())
        return noise / self.trials, wrong / self.trials


def clean_up_error(variance: float, size: int, items: int) -> float:
    """How often the right one of random items is not the nearest to itself with noise of that variance."""
    right, other = math.sqrt(variance / (2 * size)), math.sqrt((1 + variance) / (2 * size))
    errors = torch.linspace(-WIDTH, WIDTH, PLACES, dtype=torch.float64)
    density = torch.exp(-errors.square() / 2)
    beaten = torch.special.ndtr((1 + right * errors) / other).pow(items - 1)
    return 1 - float((density * beaten).sum() / density.sum())


def _mean_ratio(curves: list[Curve]) -> float:
    """What was measured over what the formula says, on average."""
    ratios = [
        measured / formula
        for curve in curves
        for measured, formula in zip(curve.measured, curve.formula or (), strict=True)
    ]
    return sum(ratios) / len(ratios)


def _largest_gap(curves: list[Curve]) -> float:
    return max(
        abs(measured - formula)
        for curve in curves
        for measured, formula in zip(curve.measured, curve.formula or (), strict=True)
    )
