"""Pictures of an experiment: its values as bars, how they were learnt, and what its traces show; or its laws."""

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mnemon.report.curves import Curve, learning_curve
from mnemon.report.laws import law_pictures
from mnemon.report.picture import STYLE, Look, Picture, legend, look, svg
from mnemon.report.results import Results, Row
from mnemon.report.traces import trace_pictures

ACROSS = 2  # settings side by side
LETTERS_AN_INCH = 12
MOST_BARS = 36  # in a line of them
WIDEST = 10.0  # inches, which a page shows without shrinking them


def pictures(results: Results) -> list[Picture]:
    """Bars, learning curves, and what runs left traces of; none before the first run is finished."""
    if not any(row.runs for row in results.rows):
        return []
    with matplotlib.rc_context(STYLE):
        if results.description.shows == "law":
            return law_pictures(results)
        return [*_bars(results), *_curves(results), *trace_pictures(results)]


def _bars(results: Results) -> list[Picture]:
    """A bar a model with its s.d., and the thesis's value as a diamond; per cent apart from other numbers."""
    by_unit: dict[float, list[Row]] = {}
    for row in results.rows:
        if row.described.folder is not None:  # those quoted from the literature are left to the table
            by_unit.setdefault(results.description.factor_of(row.described), []).append(row)
    return [Picture(_bar_caption(rows), svg(_bar_figure(results, rows))) for rows in by_unit.values()]


def _bar_caption(rows: list[Row]) -> str:
    known = any(row.described.thesis is not None for row in rows)
    return f"Mean over seeds with s.d.{'; the diamond is the value of the thesis' if known else ''}."


def _bar_figure(results: Results, rows: list[Row]) -> Figure:
    """Settings one after the other, over as many lines as they need."""
    lines = _bar_lines(_by_setting(rows))
    looks = _looks(results)
    most = max(sum(map(len, line.values())) + len(line) for line in lines)
    width = min(WIDEST, max(6.0, 0.4 * most + 2))
    figure = Figure(figsize=(width, 2.6 * len(lines) + 0.6), layout="constrained")
    labels = dict.fromkeys(results.description.label_of(row.described) for row in rows)
    unit = "%" if results.description.factor_of(rows[0].described) != 1 else ""  # what different metrics have in common
    for axes, line in zip(figure.subplots(len(lines), squeeze=False).flatten(), lines, strict=True):
        _draw_bars(axes, line, looks, most, width)
        axes.set_ylabel(next(iter(labels)) if len(labels) == 1 else unit)
    legend(figure, looks)
    return figure


def _bar_lines(by_setting: dict[str, list[Row]]) -> list[dict[str, list[Row]]]:
    """As many settings in a line as have room; at least one."""
    lines: list[dict[str, list[Row]]] = [{}]
    for setting, rows in by_setting.items():
        if lines[-1] and sum(map(len, lines[-1].values())) + len(rows) > MOST_BARS:
            lines.append({})
        lines[-1][setting] = rows
    return lines


def _draw_bars(axes: Axes, line: dict[str, list[Row]], looks: dict[str, Look], most: int, width: float) -> None:
    place, ticks = 0.0, []
    for together in line.values():
        first = place
        for row in together:
            drawn = looks[row.described.model]
            axes.bar(
                place,
                row.mean or 0.0,
                0.8,
                yerr=row.sd,
                color=drawn.colour,
                hatch=drawn.hatch,
                edgecolor="white",
                capsize=2,
            )
            if row.described.thesis is not None:
                axes.plot(place, row.described.thesis, "D", color="black", markersize=4)
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 1
    crowded = max(map(len, line)) * len(line) > LETTERS_AN_INCH * width
    axes.set_xticks(ticks, list(line), rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.set_xlim(-1, most - 1)  # bars of all lines are as wide
    axes.grid(visible=False, axis="x")


def _curves(results: Results) -> list[Picture]:
    """One panel a setting, one line a model; none where all that is shown was measured once."""
    panels = _panels(results)
    if not panels:
        return []
    looks = _looks(results)
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(9 if across > 1 else 6, 2.6 * down + 0.4), layout="constrained")
    places = figure.subplots(down, across, squeeze=False).flatten()
    for place, (title, curves) in zip(places, panels.items(), strict=False):
        place.set_title(title)
        place.set_xlabel("step")
        place.set_ylabel(results.description.label_of(curves[0][0].described))
        for row, curve in curves:
            _draw_curve(place, curve, looks[row.described.model])
    for place in places[len(panels) :]:
        place.set_axis_off()
    legend(figure, looks)
    return [Picture("Learning curves: mean over seeds, with a band of one s.d.", svg(figure))]


def _panels(results: Results) -> dict[str, list[tuple[Row, Curve]]]:
    """Curves by setting. Those of training batches are the same for all tests of a run, and drawn once."""
    found: dict[str, list[tuple[Row, Curve]]] = {}
    sources = [(row.described.folder, results.description.metric_of(row.described)) for row in results.rows]
    for number, (row, source) in enumerate(zip(results.rows, sources, strict=True)):
        curve = learning_curve(results, row)
        if curve is None or (curve.on_training and source in sources[:number]):
            continue
        setting = row.described.setting
        trained = "training batches" if sources.count(source) > 1 else f"{setting}, training batches"
        found.setdefault(trained if curve.on_training else setting, []).append((row, curve))
    return found


def _draw_curve(panel: Axes, curve: Curve, look: Look) -> None:
    panel.plot(curve.steps, curve.means, color=look.colour, linestyle=look.line, linewidth=1.2)
    low = [mean - sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
    high = [mean + sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
    panel.fill_between(curve.steps, low, high, color=look.colour, alpha=0.2, linewidth=0)


def _by_setting(rows: list[Row]) -> dict[str, list[Row]]:
    settings = dict.fromkeys(row.described.setting for row in rows)
    return {setting: [row for row in rows if row.described.setting == setting] for setting in settings}


def _looks(results: Results) -> dict[str, Look]:
    """How each model is drawn, the same in all settings."""
    models = dict.fromkeys(row.described.model for row in results.rows if row.described.folder is not None)
    return {model: look(number) for number, model in enumerate(models)}
