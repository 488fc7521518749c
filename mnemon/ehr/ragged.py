"""Lists of different lengths in one array: ``values[offsets[i] : offsets[i + 1]]`` is list ``i``.

Letters: ``E`` values of all lists, ``V`` lists; there are ``V + 1`` bounds.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64, Integer


class Ragged(NamedTuple):
    """Lists of whole numbers, here the codes of visits."""

    values: Integer[np.ndarray, "E"]
    offsets: Int64[np.ndarray, "bounds"]

    @property
    def lengths(self) -> Int64[np.ndarray, "V"]:
        """How long each list is."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Int64[np.ndarray, "E"]:
        """The list of each value."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def keep(self, chosen: Bool[np.ndarray, "E"]) -> "Ragged":
        """The lists without some of their values."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return Ragged(self.values[chosen], before[self.offsets])

    def take(self, lists: Bool[np.ndarray, "V"]) -> "Ragged":
        """Some of the lists."""
        lengths = self.lengths
        return from_lengths(self.values[np.repeat(lists, lengths)], lengths[lists])

    def firsts(self) -> Bool[np.ndarray, "E"]:
        """Which values are met for the first time in their list."""
        kinds = int(self.values.max(initial=0)) + 1
        _, places = np.unique(self.owners * kinds + self.values, return_index=True)
        first = np.zeros(len(self.values), dtype=bool)
        first[places] = True
        return first


def from_lengths(values: Integer[np.ndarray, "E"], lengths: Integer[np.ndarray, "V"]) -> Ragged:
    """Lists one after the other."""
    return Ragged(values, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
