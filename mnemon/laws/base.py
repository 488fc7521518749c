"""What a law is, and what measuring it gives: curves beside their formula, and numbers for a table.

A law is a frozen dataclass of its settings. Measuring needs a seed and nothing else, so that it goes to a worker
process as JSON, as a task does; what it came to is kept as ``law.json`` in the folder of its run. Reading that file
needs no law.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from mnemon.errors import UserError
from mnemon.training.record import json_number

AxisScale = Literal["linear", "log"]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What was measured at each x and, where there is one, what the formula says there; nan is a gap."""

    name: str  # in the legend
    x: tuple[float, ...]
    measured: tuple[float, ...]
    formula: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for part, values in (("measured", self.measured), ("formula", self.formula)):
            if values is not None and len(values) != len(self.x):
                raise UserError(
                    f"curve {self.name!r} has {len(values)} {part} values for {len(self.x)} places: give one for each x"
                )


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Curves on the same axes. Panels of the same name, of different jobs, are drawn as one."""

    name: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    x_scale: AxisScale = "linear"
    y_scale: AxisScale = "linear"
    marks: Mapping[str, float] = dataclasses.field(default_factory=dict)  # places on the x axis, by what they are


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a law came to with one seed."""

    panels: tuple[Panel, ...]
    metrics: Mapping[str, float]  # for the table, each by its own name

    def to_json(self) -> dict[str, Any]:
        """What :func:`measured_from_json` makes the same of; what is not finite becomes null."""
        document: dict[str, Any] = _finite(dataclasses.asdict(self))
        return document


@runtime_checkable
class Law(Protocol):
    """The settings of a law, which know how to measure it."""

    def measure(self, seed: int) -> Measured:
        """Measure; all that is random comes from the seed."""
        ...

    def shortened(self, scale: float) -> "Law":
        """The same law measured with less: as a rule, ``scale`` times the trials."""
        ...


def shorten(trials: int, scale: float) -> int:
    """A share of the trials, at least one."""
    return max(1, round(trials * scale))


def measured_from_json(document: Mapping[str, Any]) -> Measured:
    """The inverse of :meth:`Measured.to_json`, refusing whatever is none."""
    try:
        panels = tuple(
            Panel(**{**panel, "curves": tuple(_curve(curve) for curve in panel["curves"])})
            for panel in document["panels"]
        )
        return Measured(panels=panels, metrics={name: _number(value) for name, value in document["metrics"].items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"this is not what a law came to: {error}") from error


def _curve(document: Mapping[str, Any]) -> Curve:
    settings: dict[str, Any] = {
        name: tuple(map(_number, value)) if isinstance(value, list) else value for name, value in document.items()
    }
    return Curve(**settings)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _finite(value: Any) -> Any:
    """The same with null for every number that JSON has no word for."""
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return json_number(value) if isinstance(value, float) else value
