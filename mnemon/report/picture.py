"""What all pictures have in common: their colours, their legends, and that each is the text of an SVG image."""

import io
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222222")
LINES = ("-", "--", ":")  # of those that get a colour for the first, second and third time
HATCHES = ("", "////", "....")
LETTER = 0.08  # inches, of a legend
BESIDE_A_NAME = 0.6  # inches: the patch, and the space to the next
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# text stays text, dollars that would be taken for formulas too, and the same data give the same bytes
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "svg.hashsalt": "mnemon",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


class Picture(NamedTuple):
    """An image and what it shows."""

    caption: str
    svg: str


class Look(NamedTuple):
    """How a model is told from others: by its colour and, where these are used up, by its line or its bar's hatch."""

    colour: str
    line: str
    hatch: str


def look(number: int) -> Look:
    """Of the model with that number."""
    again = number // len(COLOURS) % len(LINES)
    return Look(COLOURS[number % len(COLOURS)], LINES[again], HATCHES[again])


def legend(figure: Figure, looks: Mapping[str, Look]) -> None:
    """Below the figure, in as many columns as it is wide enough for."""
    handles = [
        Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=name) for name, look in looks.items()
    ]
    longest = max(map(len, looks))
    columns = int(figure.get_figwidth() / (LETTER * longest + BESIDE_A_NAME))
    figure.legend(handles=handles, loc="outside lower center", ncols=max(1, min(len(handles), columns)), frameon=False)


def svg(figure: Figure) -> str:
    """The figure as text, ready to stand in a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)


def label_powers(axis: Axis) -> None:
    """Name the powers of ten on a logarithmic axis, without the formulas that matplotlib would use."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: _in_powers(value)))
    axis.set_minor_formatter(NullFormatter())


def _in_powers(value: float) -> str:
    power = math.log10(value) if value > 0 else math.inf
    whole = math.isfinite(power) and abs(power - round(power)) < 1e-9
    return f"10{str(round(power)).translate(SUPERSCRIPTS)}" if whole else f"{value:g}"
