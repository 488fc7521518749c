import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mnemon.commands.report import Report
from mnemon.errors import UserError
from mnemon.report.description import read_description
from mnemon.report.results import read_results
from mnemon.report.traces import draw_array
from mnemon.training.files import write_json
from tests.report.written import write_experiment


def test_page_is_whole_escaped_and_needs_nothing_else(tmp_path: Path) -> None:
    write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7], "dnc": [0.9]})
    Report(folder=tmp_path).run()
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure>") == 2
    assert "Copy &amp; paste" in page
    assert "&lt;abacus&gt;" in page
    assert "60.00 ± 14.14" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "| copy | ntm | 60.00 ± 14.14 |" in (tmp_path / "report.md").read_text()


def test_same_records_same_bytes(tmp_path: Path) -> None:
    write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]})
    for name in ("a.html", "b.html"):
        Report(folder=tmp_path, out=tmp_path / name).run()
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def array(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "rows": "timestep", "columns": "slot", "values": [[0.0, 1.0], [0.5, 0.5]], **more}


def test_traces_become_heat_maps(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    traces = folder / "jobs/copy/ntm/seed-0/traces.json"
    write_json(traces, {"title": "a sequence", "arrays": [array("write weights")]})
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 3
    assert "copy, ntm, seed 0: where the memory was written and read." in page
    assert "orange" not in page
    write_json(traces, {"title": "a sequence", "arrays": []})
    Report(folder=folder).run()
    assert (folder / "report.html").read_text().count("<figure>") == 2, "a model without memory has nothing to show"
    write_json(traces, {"arrays": [{"name": "write weights"}]})
    with pytest.raises(UserError, match=r"traces.json holds no arrays: each needs columns, name, rows, values"):
        Report(folder=folder).run()


def test_right_tokens_by_place_are_lines(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5], "lstm": [0.5]})
    for model, shares in (("ntm", [1, 0.5]), ("lstm", [0.25, 0])):
        traces = {"arrays": [], "right": shares}
        write_json(folder / f"jobs/copy/{model}/seed-0/traces.json", traces)
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 3, "one picture for both"
    assert page.count("How often each place of the answer has the right token") == 1
    assert page.count(">place in the answer<") == 1


def test_answers_programs_and_phases(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    arrays = [array("answer", wrong=[[0, 1], [0, 0]]), *(array(f"programs, read head {head}") for head in range(9))]
    spans = [{"name": "copy, input", "start": 0}, {"name": "copy, answer", "start": 1}]
    write_json(folder / "jobs/copy/ntm/seed-0/traces.json", {"arrays": arrays, "spans": spans})
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 3
    assert "Wrong bits are orange, negative numbers blue." in page
    assert page.count("copy, answer") == 2, "at the end of each line of pictures"
    assert not re.search(r'(src|href)="(?!#|data:)', page)


def test_names_of_phases_do_not_stand_over_one_another(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    long = {**array("weights"), "values": [[0.0, 1.0]] * 100}
    spans = [{"name": f"phase at {start}", "start": start} for start in (0, 2, 3, 4, 50)]
    write_json(folder / "jobs/copy/ntm/seed-0/traces.json", {"arrays": [long], "spans": spans})
    Report(folder=folder).run()
    named = re.findall(r"phase at \d+", re.sub("<!--.*?-->", "", (folder / "report.html").read_text()))
    assert named == ["phase at 0", "phase at 4", "phase at 50"]


def test_wrong_bits_are_in_a_colour_of_their_own() -> None:
    axes = Figure().subplots()
    draw_array(axes, array("answer", wrong=[[0, 1], [0, 0]]))
    bits, marked = (image.to_rgba(np.ma.asarray(image.get_array())) for image in axes.get_images())
    assert to_hex(bits[0, 1]) == "#000000"
    assert to_hex(marked[0, 1]) == "#ee7733"
    assert [marked[row, column, 3] for row in (0, 1) for column in (0, 1)] == [0, 1, 0, 0], "all else shows through"


def test_states_become_scatter_plots(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5], "dnc": [0.5], "lstm": [0.5]})
    replace(read_description(folder), shows="states").write(folder)
    points = [[0.5, -0.5, 0, 0], [0.25, 1, 1, 1]]
    states = {"phases": ["copy, input", "copy, answer"], "shares": [0.625, 0.125], "points": points}
    for model in ("ntm", "dnc"):
        write_json(folder / f"jobs/copy/{model}/seed-0/traces.json", {"arrays": [array("weights")], "states": states})
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 3, "bars, curves, and all models in one"
    for words in ("copy, input", "copy, answer", "component 1, 62% of the variance"):
        assert page.count(words) == 2
    for model in ("ntm", "dnc"):
        assert f"copy, {model}, seed 0" in page
    write_json(folder / "jobs/copy/ntm/seed-0/traces.json", {"states": {}})
    with pytest.raises(UserError, match=r"traces.json holds no states: each needs phases, points, shares"):
        Report(folder=folder).run()


def test_percentages_have_bars_of_their_own(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5], "dnc": [0.5]})
    described = read_description(folder)
    rows = [replace(row, percent=row.model != "dnc") for row in described.rows]
    replace(described, rows=rows).write(folder)
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("Mean over seeds with s.d.; the diamond is the value of the thesis.") == 2
    assert page.count("Learning curves") == 1


def test_what_was_measured_once_has_no_curve(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    described = read_description(folder)
    replace(described, rows=[replace(row, at=1.0) for row in described.rows]).write(folder)
    Report(folder=folder).run()
    assert "Learning curves" not in (folder / "report.html").read_text()


def test_no_run_no_picture(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": []})
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert "<figure>" not in page
    assert "none finished yet" in page


def test_json_is_one_document_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_experiment(tmp_path / "one", {"ntm": [0.5]})
    write_experiment(tmp_path / "two", {"ntm": [0.5]})
    Report(folder=tmp_path, json=True).run()
    out, err = capsys.readouterr()
    assert [found["experiment"] for found in json.loads(out)["experiments"]] == ["copying", "copying"]
    assert err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


@pytest.mark.parametrize(
    ("out", "message"), [("report.md", "is where the Markdown page goes"), ("no/report.html", "there is no folder")]
)
def test_bad_names_are_refused_before_anything_is_written(out: str, message: str, tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    before = sorted(folder.rglob("*"))
    with pytest.raises(UserError, match=message):
        Report(folder=folder, out=folder / out).run()
    assert sorted(folder.rglob("*")) == before


def test_folders_without_experiments_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no experiment"):
        Report(folder=tmp_path).run()
    with pytest.raises(UserError, match="there is no folder"):
        Report(folder=tmp_path / "none").run()
    with pytest.raises(UserError, match=r"cannot read .*experiment.json"):
        read_results(tmp_path)
