"""Laws beside their formulas: what was measured, its mean over seeds with a band, and a dashed line for the formula."""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mnemon.errors import UserError
from mnemon.laws.base import Curve, Panel, measured_from_json
from mnemon.report.picture import COLOURS, Picture, label_powers, svg
from mnemon.report.results import Results
from mnemon.training.directory import RunDirectory
from mnemon.training.files import read_json

ACROSS = 2  # panels side by side
PANEL = (4.6, 3.4)  # inches
MARK = "#888888"


class MeanCurve(NamedTuple):
    """A curve over seeds; nan where no seed measured anything."""

    name: str
    x: list[float]
    means: list[float]
    sds: list[float]  # zero where there is one seed
    formula: list[float] | None


def law_pictures(results: Results) -> list[Picture]:
    """One picture with all panels of the experiment; none before the first run is finished."""
    panels = _panels(results)
    if not panels:
        return []
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(PANEL[0] * across, PANEL[1] * down), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).flatten()
    for place, left in zip(axes, panels.values(), strict=False):
        _draw(place, left)
    for place in axes[len(panels) :]:
        place.set_axis_off()
    count = len(results.seeds)
    over = "one seed" if count == 1 else f"{count} seeds, the band being one s.d."
    return [
        Picture(
            f"{results.description.title}: points are measured, over {over}; dashed lines are the formula.", svg(figure)
        )
    ]


def mean_curves(panels: Sequence[Panel]) -> list[MeanCurve]:
    """The curves of panels that different seeds left: those of one name are averaged."""
    by_name: dict[str, list[Curve]] = {}
    for panel in panels:
        for curve in panel.curves:
            by_name.setdefault(curve.name, []).append(curve)
    return [_mean(curves) for curves in by_name.values()]


def _panels(results: Results) -> dict[str, list[Panel]]:
    """What the runs left, by the name of the panel."""
    folders = dict.fromkeys(run.folder for row in results.rows for run in row.runs)
    found: dict[str, list[Panel]] = {}
    for folder in folders:
        for panel in _read(RunDirectory(folder).law):
            found.setdefault(panel.name, []).append(panel)
    return found


def _read(path: Path) -> tuple[Panel, ...]:
    try:
        return measured_from_json(read_json(path)).panels
    except UserError as error:
        raise UserError(f"{path}: {error}; move its run away, and run the experiment again with --resume") from error


def _mean(curves: list[Curve]) -> MeanCurve:
    """Over the places that all seeds have."""
    shared = sorted(set.intersection(*(set(curve.x) for curve in curves)))
    measured = [[dict(zip(curve.x, curve.measured, strict=True))[x] for curve in curves] for x in shared]
    formulas = [dict(zip(curve.x, curve.formula, strict=True)) for curve in curves if curve.formula is not None]
    known = [[value for value in values if math.isfinite(value)] for values in measured]
    return MeanCurve(
        name=curves[0].name,
        x=shared,
        means=[statistics.fmean(values) if values else math.nan for values in known],
        sds=[statistics.stdev(values) if len(values) > 1 else 0.0 for values in known],
        formula=[statistics.fmean(each[x] for each in formulas) for x in shared] if formulas else None,
    )


def _draw(axes: Axes, panels: list[Panel]) -> None:
    panel = panels[0]
    axes.set_title(panel.name)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.set_xscale(panel.x_scale)
    axes.set_yscale(panel.y_scale)
    for axis, scale in ((axes.xaxis, panel.x_scale), (axes.yaxis, panel.y_scale)):
        if scale == "log":
            label_powers(axis)
    curves = mean_curves(panels)
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        axes.plot(curve.x, curve.means, "o", color=colour, markersize=3, label=curve.name)
        low = [mean - sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
        high = [mean + sd for mean, sd in zip(curve.means, curve.sds, strict=True)]
        axes.fill_between(curve.x, low, high, color=colour, alpha=0.2, linewidth=0)
        if curve.formula is not None:
            axes.plot(curve.x, curve.formula, "--", color=colour, linewidth=1.2)
    if any(curve.formula is not None for curve in curves):
        axes.plot([], [], "--", color="black", linewidth=1.2, label="formula")
    for name, place in panel.marks.items():
        axes.axvline(place, color=MARK, linestyle=":", linewidth=1)
        axes.annotate(name, (place, 0.02), xycoords=("data", "axes fraction"), rotation=90, fontsize=7, ha="right")
    axes.legend(fontsize=7)
