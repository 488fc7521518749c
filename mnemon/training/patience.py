"""When to stop early: a run that its first test no longer finds better, for long enough, is over."""

import math


class Patience:
    """Counts the evaluations since the best loss. What it knows follows from the records alone, so none of it is saved.

    Args:
        limit: how many evaluations without improvement end the run; None: any number may.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.best = math.inf
        self.without_improvement = 0

    def see(self, loss: float) -> None:
        """One more evaluation; a loss that is not a number is no improvement."""
        if loss < self.best:
            self.best, self.without_improvement = loss, 0
        else:
            self.without_improvement += 1

    @property
    def exhausted(self) -> bool:
        """Whether the run is over."""
        return self.limit is not None and self.without_improvement >= self.limit
