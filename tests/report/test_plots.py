"""Pictures in which nothing is cut off, too small or taken for something else."""

import re
from dataclasses import replace
from pathlib import Path

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from mnemon.report.description import read_description
from mnemon.report.picture import COLOURS, legend, look
from mnemon.report.plots import WIDEST, pictures
from mnemon.report.results import read_results
from tests.report.written import write_experiment

POINTS = 72


def test_a_legend_is_as_wide_as_its_figure_at_most() -> None:
    for names in (["ntm", "dnc"], [f"Key-value memory network, {hops} hops" for hops in range(9)], ["x" * 60]):
        figure = Figure(figsize=(6, 3), layout="constrained")
        FigureCanvasSVG(figure)
        figure.subplots().plot([0, 1])
        legend(figure, {name: look(number) for number, name in enumerate(names)})
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
        assert [text.get_text() for text in figure.legends[0].get_texts()] == names


def test_models_are_told_apart_where_colours_are_used_up() -> None:
    looks = [look(number) for number in range(3 * len(COLOURS))]
    assert len({(each.colour, each.line) for each in looks}) == len(looks)
    assert len({(each.colour, each.hatch) for each in looks}) == len(looks)


def write_settings(folder: Path, settings: int, models: int) -> Path:
    """Runs of which each fills a row of every setting."""
    write_experiment(folder, {f"m{number}": [0.5] for number in range(models)})
    described = read_description(folder)
    names = [f"setting {number}" for number in range(settings)]
    rows = [replace(row, setting=name) for name in names for row in described.rows]
    replace(described, rows=rows).write(folder)
    return folder


def test_many_bars_stand_in_several_lines_and_are_no_wider_than_a_page(tmp_path: Path) -> None:
    few, many = (pictures(read_results(write_settings(tmp_path / str(count), count, 9)))[0].svg for count in (2, 10))
    (width, height), (wide, high) = (
        [float(size) for size in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2]] for svg in (few, many)
    )
    assert width <= wide <= WIDEST * POINTS
    assert high > 2 * height


def test_what_was_measured_on_training_batches_is_drawn_once(tmp_path: Path) -> None:
    """Tests of one run that were made too seldom for curves of their own."""
    folder = write_settings(tmp_path / "one", 3, 1)
    assert len(re.findall("training batches|setting [012]", pictures(read_results(folder))[1].svg)) == 3
    records = folder / "jobs/copy/m0/seed-0/records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(line for line in lines if '"eval"' not in line))
    assert re.findall("training batches|setting [012]", pictures(read_results(folder))[1].svg) == ["training batches"]
