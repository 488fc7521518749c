"""The kinds of panels that a page can have: what each shows, and what the page is told of it.

Letters: ``T`` recorded steps, ``K`` rows or series, ``R`` and ``C`` rows and columns of a matrix, ``N`` slots.

The steps of a panel are those that something recorded; a clock says at which steps of the page they were. Hues are
names that the page has colours for: ``write``, ``read``, ``use``, ``plain``, and ``signed`` around zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mnemon.theory.clusters import Projection
from mnemon.viewer.packing import HIGHEST, Arrays

Clock = list[tuple[int, int]]  # stretches of steps: the first, and how many


@dataclass(frozen=True, kw_only=True)
class Panel(ABC):
    """What all kinds have."""

    kind: ClassVar[str]

    title: str
    note: str = ""  # how to read it
    clock: Clock
    cell: str = ""  # the heading it stands under
    space: str = ""  # panels whose rows are the slots of one memory have the same

    def describe(self, arrays: Arrays) -> dict[str, Any]:
        """The panel as JSON, its numbers among the arrays."""
        return {
            "kind": self.kind,
            "title": self.title,
            "note": self.note,
            "clock": [list(stretch) for stretch in self.clock],
            "cell": self.cell,
            "space": self.space,
            **self.details(arrays),
        }

    @abstractmethod
    def details(self, arrays: Arrays) -> dict[str, Any]:
        """What only this kind has."""


@dataclass(frozen=True, kw_only=True)
class Heat(Panel):
    """Numbers in shades: steps across, rows down."""

    kind = "heat"

    rows: str  # what a row is
    values: Float[Tensor, "T K"]
    hue: str = "plain"
    names: Sequence[str] = ()  # of the rows, where they have any
    wrong: Bool[Tensor, "T K"] | None = None  # to be marked
    ends: tuple[float, float] | None = None  # of the shades; None: those of the numbers

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """Shades from 0 to the largest number, or to both sides of 0 where some are negative."""
        low, high = self.ends or span(self.values)
        marks = [] if self.wrong is None else self.wrong.nonzero().tolist()
        return {
            "rows": self.rows,
            "names": list(self.names),
            "hue": "signed" if low < 0 else self.hue,
            "array": arrays.add(self.values, low, high),
            "wrong": marks,
        }


@dataclass(frozen=True, kw_only=True)
class Lines(Panel):
    """Series over time; what is not a number is a gap."""

    kind = "lines"

    names: Sequence[str]
    values: Float[Tensor, "T K"]

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """The range is 0 to 1 where the numbers are."""
        low, high = span(self.values)
        return {"names": list(self.names), "array": arrays.add(self.values, low, high)}


@dataclass(frozen=True, kw_only=True)
class Shares(Panel):
    """Parts of one, stacked."""

    kind = "shares"

    names: Sequence[str]
    values: Float[Tensor, "T K"]

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """Each from 0 to 1."""
        return {"names": list(self.names), "array": arrays.add(self.values, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Tokens(Panel):
    """A word, a number or nothing at each step."""

    kind = "tokens"

    texts: Sequence[str]
    wrong: Sequence[bool] = ()

    def details(self, arrays: Arrays) -> dict[str, Any]:  # noqa: ARG002 (it has no numbers)
        """The texts as they are."""
        return {"texts": list(self.texts), "wrong": [int(step) for step in self.wrong]}


@dataclass(frozen=True, kw_only=True)
class HeldInputs(Panel):
    """Whose input each slot holds: bars from one write to the next."""

    kind = "held"

    sources: Int[Tensor, "T N"]  # steps of the page, or -1
    shares: Float[Tensor, "T N"]

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """The step, plus one, in two digits to the base 255."""
        shifted, base = self.sources + 1, HIGHEST + 1
        digits = torch.stack([shifted // base, shifted % base], dim=2).double()
        return {"digits": arrays.add(digits, 0.0, float(HIGHEST)), "shares": arrays.add(self.shares, 0.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Matrix(Panel):
    """A matrix as it is at the step of the cursor."""

    kind = "matrix"

    rows: str
    columns: str
    values: Float[Tensor, "T R C"]
    columns_are_slots: bool = False

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """One range for all steps."""
        low, high = span(self.values)
        return {
            "rows": self.rows,
            "columns": self.columns,
            "shape": list(self.values.shape[1:]),
            "hue": "signed" if low < 0 else "plain",
            "columnsAreSlots": self.columns_are_slots,
            "array": arrays.add(self.values, low, high, may_be_thinned=True),
        }


@dataclass(frozen=True, kw_only=True)
class States(Panel):
    """The controller's state at each step, on two principal components."""

    kind = "states"

    projection: Projection

    def details(self, arrays: Arrays) -> dict[str, Any]:
        """Both components from −1 to 1, the larger one reaching the end."""
        points = self.projection.points
        largest = float(points.abs().amax().clamp_min(1e-12))
        return {"array": arrays.add(points / largest, -1.0, 1.0), "shares": self.projection.shares.tolist()}


def span(values: Float[Tensor, "*shape"]) -> tuple[float, float]:
    """0 to 1 for what lies there, 0 to the largest, or to both sides of 0 alike; what is not finite does not count."""
    finite = values[values.isfinite()]
    if not finite.numel():
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if low < 0:
        furthest = max(-low, high)
        return -furthest, furthest
    return 0.0, high if high > 1 or high < 0.2 else 1.0
