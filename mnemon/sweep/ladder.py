"""The learning rates that a search tries."""

import math
from dataclasses import dataclass

from mnemon.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Rates from the lowest to the highest, each the same factor above the one before."""

    lowest: float = 1e-5
    highest: float = 1e-2
    count: int = 7

    def __post_init__(self) -> None:
        if not 0 < self.lowest < self.highest < math.inf:
            raise UserError(f"rates from {self.lowest:g} to {self.highest:g}: write the lower first, above 0")
        if self.count < 2:
            raise UserError(f"trials must be at least 2, got {self.count}")

    def rates(self, own: float) -> list[float]:
        """Three digits of each, and a job's own rate among them."""
        factor = (self.highest / self.lowest) ** (1 / (self.count - 1))
        return sorted({own, *(float(f"{self.lowest * factor**rung:.3g}") for rung in range(self.count))})
