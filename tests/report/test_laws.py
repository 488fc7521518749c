import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from mnemon.commands.report import Report
from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel
from mnemon.report.description import read_description
from mnemon.report.laws import mean_curves
from mnemon.training.files import write_json
from tests.report.written import write_experiment


def panel(measured: tuple[float, ...], name: str = "Capacity & load", x: tuple[float, ...] = (1.0, 2.0)) -> Panel:
    curve = Curve(name="one step", x=x, measured=measured, formula=tuple(2 * place for place in x))
    return Panel(name=name, x_label="load", y_label="errors", curves=(curve,), marks={"limit": 1.5})


def write_laws(folder: Path, *seeds: tuple[Panel, ...]) -> Path:
    write_experiment(folder, {"hopfield": [0.5] * len(seeds)})
    replace(read_description(folder), shows="law").write(folder)
    for seed, panels in enumerate(seeds):
        path = folder / f"jobs/copy/hopfield/seed-{seed}/law.json"
        write_json(path, Measured(panels=panels, metrics={}).to_json())
    return folder


def test_curves_are_averaged_over_seeds() -> None:
    (curve,) = mean_curves([panel((1.0, 3.0)), panel((2.0, math.nan)), panel((3.0, 5.0))])
    assert curve.means == [2.0, 4.0]
    assert curve.sds == pytest.approx([1.0, math.sqrt(2)])
    assert curve.formula == [2.0, 4.0]


def test_places_that_not_all_seeds_have_are_left_out_and_gaps_stay() -> None:
    (curve,) = mean_curves([panel((1.0, math.nan)), panel((1.0, math.nan, 7.0), x=(1.0, 2.0, 3.0))])
    assert curve.x == [1.0, 2.0]
    assert curve.means[0] == 1.0
    assert math.isnan(curve.means[1])
    assert curve.sds == [0.0, 0.0]


def test_curves_without_a_formula_have_none() -> None:
    bare = Curve(name="a", x=(1.0,), measured=(2.0,))
    (curve,) = mean_curves([Panel(name="p", x_label="x", y_label="y", curves=(bare,))])
    assert curve.formula is None


def test_the_page_has_one_picture_with_all_panels(tmp_path: Path) -> None:
    folder = write_laws(
        tmp_path / "one",
        (panel((1.0, 3.0)), panel((1.0, 2.0), name="Another")),
        (panel((2.0, 4.0)), panel((1.0, 2.0), name="Another")),
    )
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 1
    assert "is better" not in page
    for words in ("Capacity &amp; load", "Another", "one step", "formula", "limit", "over 2 seeds"):
        assert words in page


def test_pictures_become_files(tmp_path: Path) -> None:
    folder = write_laws(tmp_path / "one", (panel((1.0, 3.0)),))
    (tmp_path / "pictures").mkdir()
    Report(folder=folder, pictures=tmp_path / "pictures").run()
    (written,) = (tmp_path / "pictures").iterdir()
    assert written.name == "copying.svg"
    assert ET.parse(written).getroot().tag.endswith("svg"), "on its own, too"
    assert written.stat().st_size < 60_000
    assert "over one seed;" in (folder / "report.html").read_text()
    before = written.read_bytes()
    Report(folder=folder, pictures=tmp_path / "pictures", json=True).run()
    assert written.read_bytes() == before


def test_a_folder_for_pictures_is_needed(tmp_path: Path) -> None:
    folder = write_laws(tmp_path / "one", (panel((1.0, 3.0)),))
    with pytest.raises(UserError, match=r"there is no folder .*: make it first, or choose another for --pictures"):
        Report(folder=folder, pictures=tmp_path / "none").run()
    assert not (folder / "report.html").exists()


def test_damaged_curves_are_named(tmp_path: Path) -> None:
    folder = write_laws(tmp_path / "one", (panel((1.0, 3.0)),))
    write_json(folder / "jobs/copy/hopfield/seed-0/law.json", {"panels": []})
    with pytest.raises(UserError, match=r"law.json: this is not what a law came to: 'metrics'; move its run away"):
        Report(folder=folder).run()
