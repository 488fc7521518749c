"""Pictures of an experiment: its values as bars, how they were learnt, and what its traces show; or its laws."""

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mnemon.report.curves import Curve, learning_curve
from mnemon.report.laws import law_pictures
from mnemon.report.picture import COLOURS, STYLE, Picture, svg
from mnemon.report.results import Results, Row
from mnemon.report.traces import trace_pictures

ACROSS = 2  # settings side by side
LETTERS_AN_INCH = 12


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
    caption = "Mean over seeds with s.d.; the diamond is the thesis's value."
    return [Picture(caption, svg(_bar_figure(results, rows))) for rows in by_unit.values()]


def _bar_figure(results: Results, rows: list[Row]) -> Figure:
    by_setting = _by_setting(rows)
    colours = _colours(results)
    width = max(6.0, 0.4 * len(rows) + 2)
    figure = Figure(figsize=(width, 3.2), layout="constrained")
    axes = figure.subplots()
    place, ticks = 0.0, []
    for together in by_setting.values():
        first = place
        for row in together:
            axes.bar(place, row.mean or 0.0, 0.8, yerr=row.sd, color=colours[row.described.model], capsize=2)
            if row.described.thesis is not None:
                axes.plot(place, row.described.thesis, "D", color="black", markersize=4)
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 1
    crowded = max(map(len, by_setting)) * len(by_setting) > LETTERS_AN_INCH * width
    axes.set_xticks(ticks, list(by_setting), rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.grid(visible=False, axis="x")
    labels = dict.fromkeys(results.description.label_of(row.described) for row in rows)
    axes.set_ylabel(next(iter(labels)) if len(labels) == 1 else results.description.metric_label)
    _legend(figure, colours)
    return figure


def _curves(results: Results) -> list[Picture]:
    """One panel a setting, one line a model; none where all that is shown was measured once."""
    curves = [(row, curve) for row in results.rows if (curve := learning_curve(results, row)) is not None]
    if not curves:
        return []
    by_setting = _by_setting([row for row, _ in curves])
    colours = _colours(results)
    down = -(-len(by_setting) // ACROSS)
    figure = Figure(figsize=(9, 2.6 * down + 0.4), layout="constrained")
    panels = figure.subplots(down, ACROSS, squeeze=False).flatten()
    for panel, (setting, rows) in zip(panels, by_setting.items(), strict=False):
        panel.set_title(setting)
        panel.set_xlabel("step")
        panel.set_ylabel(results.description.label_of(rows[0].described))
        for row, curve in curves:
            if row.described.setting == setting:
                _draw_curve(panel, curve, colours[row.described.model])
    for panel in panels[len(by_setting) :]:
        panel.set_axis_off()
    _legend(figure, colours)
    return [Picture("Learning curves: mean over seeds, with a band of one s.d.", svg(figure))]


def _draw_curve(panel: Axes, curve: Curve, colour: str) -> None:
    panel.plot(curve.steps, curve.means, color=colour, linewidth=1.2)
    low = [mean - sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
    high = [mean + sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
    panel.fill_between(curve.steps, low, high, color=colour, alpha=0.2, linewidth=0)


def _by_setting(rows: list[Row]) -> dict[str, list[Row]]:
    settings = dict.fromkeys(row.described.setting for row in rows)
    return {setting: [row for row in rows if row.described.setting == setting] for setting in settings}


def _colours(results: Results) -> dict[str, str]:
    """A colour for each model, the same in all settings."""
    models = dict.fromkeys(row.described.model for row in results.rows if row.described.folder is not None)
    return {model: COLOURS[number % len(COLOURS)] for number, model in enumerate(models)}


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    handles = [Patch(color=colour, label=model) for model, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)), frameon=False)
