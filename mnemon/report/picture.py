"""What all pictures have in common: their colours, their style, and that each is the text of an SVG image."""

import io
import re
from typing import Any, NamedTuple

from matplotlib.figure import Figure

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222222")
# text stays text, and the same data give the same bytes
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "mnemon",
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


class Picture(NamedTuple):
    """An image and what it shows."""

    caption: str
    svg: str


def svg(figure: Figure) -> str:
    """The figure as text, ready to stand in a page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)
