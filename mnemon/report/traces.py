"""Pictures of what models did with held-out sequences, from the traces that runs leave.

Shades go from white for 0 to black for 1, and to blue for −1. Wrong bits are orange. Phases differ in their marks as
well as in their colours, which are chosen to be told apart by the colour-blind too.
"""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgba
from matplotlib.figure import Figure

from mnemon.report.picture import COLOURS, Picture, legend, look, svg
from mnemon.report.results import Results
from mnemon.report.traced import Traced, first_traces, part_of

SHADES = LinearSegmentedColormap.from_list("shades", ["#4477aa", "white", "black"])
WRONG = ListedColormap(["#ee7733"])
BORDER = "#228833"  # between phases
MARKS = ("o", "^", "s", "D", "v", "P", "X", "*", "<")
ACROSS = 8  # arrays side by side
PANEL = 1.7  # inches
NAMES_APART = 0.04  # share of the steps: a line of text
STATES_ACROSS = 2
CAPTIONS = {
    "states": "The controller's states on their first two principal components, fainter the earlier in their sequence.",
    "latents": "The latent variable of the first step on its first two principal components: drawn from the prior of "
    "one context, and from the posteriors of its right answers.",
}
FAINTEST = 0.4  # the first states of a sequence


def trace_pictures(results: Results) -> list[Picture]:
    """What the experiment shows of its traces; none where no run left any, or where it shows texts or nothing."""
    traced = first_traces(results)
    if results.description.shows == "memory":
        with_memory = [each for each in traced if each.document.get("arrays") != []]
        return [*_answers([each for each in traced if "right" in each.document]), *map(_memory, with_memory)]
    caption = CAPTIONS.get(results.description.shows)
    return [_states(traced, caption)] if traced and caption is not None else []


def _answers(traced: list[Traced]) -> list[Picture]:
    """How often each place of an answer has the right token: a panel for each setting, a line for each model."""
    if not traced:
        return []
    settings = list(dict.fromkeys(each.setting for each in traced))
    looks = {model: look(number) for number, model in enumerate(dict.fromkeys(each.model for each in traced))}
    down = -(-len(settings) // STATES_ACROSS)
    figure = Figure(figsize=(9, 2.6 * down + 0.4), layout="constrained")
    places = figure.subplots(down, STATES_ACROSS, squeeze=False).flatten()
    panels = dict(zip(settings, places, strict=False))
    for place in places[len(settings) :]:
        place.set_axis_off()
    for each in traced:
        shares = each.document["right"]
        drawn = looks[each.model]
        panels[each.setting].plot(
            range(1, len(shares) + 1), shares, color=drawn.colour, linestyle=drawn.line, linewidth=1.2
        )
    for setting, panel in panels.items():
        panel.set_title(setting)
        panel.set_xlabel("place in the answer")
        panel.set_ylabel("share of right tokens")
        panel.set_ylim(0, 1.02)
    legend(figure, looks)
    return [Picture("How often each place of the answer has the right token after training, first seed.", svg(figure))]


def _memory(traced: Traced) -> Picture:
    arrays = part_of(traced, "arrays", {"name", "rows", "columns", "values"})
    spans = traced.document.get("spans", [])
    across = min(ACROSS, len(arrays))
    down = -(-len(arrays) // across)
    height = min(9.0, max(4.5, 0.02 * len(arrays[0]["values"])))
    figure = Figure(figsize=(PANEL * across + 1, height * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flatten()
    for number, (panel, array) in enumerate(zip(panels, arrays, strict=False)):
        draw_array(panel, array)
        for span in spans[1:]:
            panel.axhline(span["start"] - 0.5, color=BORDER, linestyle="--", linewidth=0.8)
        if number % across == 0:
            panel.set_ylabel(array["rows"])
        if number % across == across - 1 or number == len(arrays) - 1:
            _name_spans(panel, spans, len(array["values"]))
    for panel in panels[len(arrays) :]:
        panel.set_axis_off()
    wrong = " Wrong bits are orange, negative numbers blue." if any("wrong" in array for array in arrays) else ""
    return Picture(f"{traced.name}: where the memory was written and read.{wrong}", svg(figure))


def draw_array(panel: Axes, array: dict[str, Any]) -> None:
    """In shades, with what is wrong in its own colour."""
    panel.imshow(array["values"], vmin=-1, vmax=1, cmap=SHADES, aspect="auto", interpolation="none")
    if "wrong" in array:
        marked = [[1.0 if wrong else math.nan for wrong in row] for row in array["wrong"]]
        panel.imshow(marked, vmin=0, vmax=1, cmap=WRONG, aspect="auto", interpolation="none")
    panel.set_title(array["name"].replace(", ", "\n"))
    panel.set_xlabel(array["columns"])
    columns = len(array["values"][0])
    panel.set_xticks(range(0, columns, 1 + columns // 6))
    panel.grid(visible=False)


def _name_spans(panel: Axes, spans: list[dict[str, Any]], steps: int) -> None:
    """The phases on the right, each beside the middle of its steps, as far as there is room for its name."""
    ends = [*(span["start"] for span in spans[1:]), steps]
    middles: dict[float, str] = {}
    for span, end in zip(spans, ends, strict=False):
        middle = (span["start"] + end - 1) / 2
        if middle - max(middles, default=-math.inf) >= NAMES_APART * steps:
            middles[middle] = span["name"]
    panel.secondary_yaxis("right").set_yticks(list(middles), list(middles.values()))


def _states(traced: list[Traced], caption: str) -> Picture:
    """A panel for each model; a state is fainter the earlier in its sequence."""
    down = -(-len(traced) // STATES_ACROSS)
    figure = Figure(figsize=(9, 3.6 * down), layout="constrained")
    panels = figure.subplots(down, STATES_ACROSS, squeeze=False).flatten()
    for panel, each in zip(panels, traced, strict=False):
        _draw_states(panel, each)
    for panel in panels[len(traced) :]:
        panel.set_axis_off()
    return Picture(caption, svg(figure))


def _draw_states(panel: Axes, traced: Traced) -> None:
    (states,) = part_of(traced, "states", {"phases", "shares", "points"})
    for number, phase in enumerate(states["phases"]):
        mark, colour = MARKS[number % len(MARKS)], COLOURS[number % len(COLOURS)]
        points = [point for point in states["points"] if point[2] == number]
        shades = [to_rgba(colour, FAINTEST + (1 - FAINTEST) * point[3]) for point in points]
        across, up = [point[0] for point in points], [point[1] for point in points]
        panel.scatter(across, up, s=14, c=shades, marker=mark, linewidths=0)
        panel.scatter([], [], s=14, color=colour, marker=mark, label=phase)  # in the legend at full strength
    panel.set_title(traced.name)
    first, second = (
        f"component {number}, {share:.0%} of the variance" for number, share in enumerate(states["shares"], 1)
    )
    panel.set_xlabel(first)
    panel.set_ylabel(second)
    panel.legend(fontsize=7)
