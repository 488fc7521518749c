"""Pictures of an experiment, each as the text of an SVG image, ready to stand in a page."""

import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from mnemon.errors import UserError
from mnemon.report.curves import learning_curve
from mnemon.report.results import Results, Row
from mnemon.training.files import read_json

TRACES = "traces.json"
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#222222")
ACROSS = 2  # settings side by side
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


def pictures(results: Results) -> list[Picture]:
    """Bars, learning curves, and heat maps where runs left traces; none before the first run is finished."""
    if not any(row.runs for row in results.rows):
        return []
    with matplotlib.rc_context(STYLE):
        return [_bars(results), _curves(results), *_heat_maps(results)]


def _bars(results: Results) -> Picture:
    """A bar a model with its s.d., and the thesis's value as a diamond."""
    by_setting = _by_setting(results)
    colours = _colours(results)
    figure = Figure(figsize=(max(6.0, 0.4 * len(results.rows) + 2), 3.2), layout="constrained")
    axes = figure.subplots()
    place, ticks = 0.0, []
    for rows in by_setting.values():
        first = place
        for row in rows:
            axes.bar(place, row.mean or 0.0, 0.8, yerr=row.sd, color=colours[row.described.model], capsize=2)
            if row.described.thesis is not None:
                axes.plot(place, row.described.thesis, "D", color="black", markersize=4)
            place += 1
        ticks.append((first + place - 1) / 2)
        place += 1
    axes.set_xticks(ticks, list(by_setting))
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(results.description.metric_label)
    _legend(figure, colours)
    return Picture("Mean over seeds with s.d.; the diamond is the thesis's value.", _svg(figure))


def _curves(results: Results) -> Picture:
    """One panel a setting, one line a model."""
    by_setting = _by_setting(results)
    colours = _colours(results)
    down = -(-len(by_setting) // ACROSS)
    figure = Figure(figsize=(9, 2.6 * down + 0.4), layout="constrained")
    panels = figure.subplots(down, ACROSS, squeeze=False).flatten()
    for panel, (setting, rows) in zip(panels, by_setting.items(), strict=False):
        panel.set_title(setting)
        panel.set_xlabel("step")
        panel.set_ylabel(results.description.label_of(rows[0].described))
        for row in rows:
            _draw_curve(panel, results, row, colours[row.described.model])
    for panel in panels[len(by_setting) :]:
        panel.set_axis_off()
    _legend(figure, colours)
    return Picture("Learning curves: mean over seeds, with a band of one s.d.", _svg(figure))


def _draw_curve(panel: Axes, results: Results, row: Row, colour: str) -> None:
    curve = learning_curve(results, row)
    if curve is not None:
        panel.plot(curve.steps, curve.means, color=colour, linewidth=1.2)
        low = [mean - sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
        high = [mean + sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
        panel.fill_between(curve.steps, low, high, color=colour, alpha=0.2, linewidth=0)


def _heat_maps(results: Results) -> list[Picture]:
    """What the memory of the first seed that left a trace did, for each row."""
    found = []
    for row in _one_a_folder(results):
        traced = [run for run in row.runs if (run.folder / TRACES).exists()]
        if traced:
            name = f"{row.described.setting}, {row.described.model}, seed {traced[0].seed}"
            found.append(
                Picture(f"{name}: where the memory was written and read.", _heat_map(traced[0].folder / TRACES))
            )
    return found


def _one_a_folder(results: Results) -> list[Row]:
    """The first of the rows that the runs of a folder fill."""
    first: dict[str | None, Row] = {}
    for row in results.rows:
        first.setdefault(row.described.folder, row)
    return list(first.values())


def _heat_map(path: Path) -> str:
    arrays = _read_arrays(path)
    figure = Figure(figsize=(2.2 * len(arrays), 4.5), layout="constrained")
    for panel, array in zip(figure.subplots(1, len(arrays), squeeze=False).flatten(), arrays, strict=True):
        panel.imshow(array["values"], aspect="auto", vmin=0, vmax=1, cmap="Greys", interpolation="nearest")
        panel.set_title(array["name"])
        panel.set_xlabel(array["columns"])
        panel.set_ylabel(array["rows"])
        columns = len(array["values"][0])
        panel.set_xticks(range(0, columns, 1 + columns // 8))
        panel.grid(visible=False)
    return _svg(figure)


def _read_arrays(path: Path) -> list[dict[str, Any]]:
    arrays = read_json(path).get("arrays")
    fields = {"name", "rows", "columns", "values"}
    if not isinstance(arrays, list) or not arrays or not all(fields <= set(array) for array in arrays):
        raise UserError(f"{path} holds no arrays: each needs {', '.join(sorted(fields))}")
    return arrays


def _by_setting(results: Results) -> dict[str, list[Row]]:
    """The rows that are run, by setting; those quoted from the literature are left to the table."""
    ran = [row for row in results.rows if row.described.folder is not None]
    settings = dict.fromkeys(row.described.setting for row in ran)
    return {setting: [row for row in ran if row.described.setting == setting] for setting in settings}


def _colours(results: Results) -> dict[str, str]:
    """A colour for each model, the same in all settings."""
    models = dict.fromkeys(row.described.model for row in results.rows if row.described.folder is not None)
    return {model: COLOURS[number % len(COLOURS)] for number, model in enumerate(models)}


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    handles = [Patch(color=colour, label=model) for model, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)), frameon=False)


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", buffer.getvalue(), flags=re.DOTALL)
