"""Where a measured curve passes a level."""

import math
from collections.abc import Sequence
from itertools import pairwise


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float:
    """The first x at which y has risen to the level, between the places measured; nan where it does not.

    Straight lines join the points.
    """
    for (left, below), (right, above) in pairwise(zip(x, y, strict=True)):
        if below < level <= above:
            return left + (right - left) * (level - below) / (above - below)
    return math.nan
