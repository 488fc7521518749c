import json
import re
from pathlib import Path

import pytest

from mnemon.commands.report import Report
from mnemon.errors import UserError
from mnemon.report.results import read_results
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


def test_traces_become_heat_maps(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    array = {"name": "write weights", "rows": "timestep", "columns": "slot", "values": [[0.0, 1.0], [0.5, 0.5]]}
    traces = folder / "jobs/copy/ntm/seed-0/traces.json"
    write_json(traces, {"title": "a sequence", "arrays": [array]})
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert page.count("<figure>") == 3
    assert "copy, ntm, seed 0: where the memory was written and read." in page
    write_json(traces, {"arrays": [{"name": "write weights"}]})
    with pytest.raises(UserError, match=r"traces.json holds no arrays: each needs columns, name, rows, values"):
        Report(folder=folder).run()


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
