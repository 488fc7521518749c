"""What SECURITY.md promises: nothing that is read is run, and what others wrote stays text."""

import ast
import dataclasses
import importlib.metadata
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from mnemon.commands.report import Report
from mnemon.ehr.explanation import Event, Explanation, Recommended
from mnemon.ehr.page import explanation_page
from mnemon.ehr.sources import read_source
from mnemon.errors import UserError
from mnemon.report.description import read_description
from mnemon.training.files import write_json
from tests.report.written import write_experiment

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "mnemon").rglob("*.py"))
FORBIDDEN = {"eval", "exec", "compile", "__import__"}
# By the last part of the name, whatever it is a part of.
FORBIDDEN_ENDINGS = {
    *("system", "popen", "extractall", "unpack_archive", "mktemp", "urlopen", "urlretrieve"),
    *("Unpickler", "read_pickle", "unsafe_load", "full_load"),
}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """The calls of a file, by the dotted name of what is called."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_that_is_read_is_run(path: Path) -> None:
    for name, call in calls(path):
        assert name not in FORBIDDEN, f"{path}:{call.lineno} calls {name}"
        assert name.split(".")[-1] not in FORBIDDEN_ENDINGS, f"{path}:{call.lineno} calls {name}"
        for keyword in call.keywords:
            assert keyword.arg not in ("shell", "allow_pickle"), f"{path}:{call.lineno}"
        if name.startswith("subprocess."):
            first = ast.unparse(call.args[0])
            assert first.startswith("[sys.executable, "), f"{path}:{call.lineno} starts a program that is not Python"


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    for text in ("os.system('x')", "exec('x')", "eval('x')", "subprocess.run(['sh'])", "f(shell=True)"):
        (tmp_path / "a.py").write_text(text)
        with pytest.raises(AssertionError):
            test_nothing_that_is_read_is_run(tmp_path / "a.py")


HARM = "<script>x('\"&')</script><img onerror=x> $|$`$"


class Reader(HTMLParser):
    """Keeps what a browser would run, and what it would show."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.runs: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "img", "iframe", "object", "embed", "link", "base", "form"):
            self.runs.append(tag)
        self.runs += [
            f"{tag} {name}" for name, value in attributes if name.startswith("on") or _leads_away(name, value)
        ]

    def handle_data(self, data: str) -> None:
        self.text += data


def _leads_away(name: str, value: str | None) -> bool:
    return name in ("href", "src", "xlink:href", "action") and not (value or "").startswith(("#", "data:image/png"))


def harmless(page: str) -> Reader:
    found = Reader(page)
    assert found.runs == []
    return found


@pytest.mark.filterwarnings("ignore:constrained_layout")  # such names leave no room
@pytest.mark.parametrize("shows", ["memory", "states", "samples", "nothing"])
def test_a_report_shows_what_others_wrote_as_text(tmp_path: Path, shows: str) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]}, shows=shows)
    described = read_description(folder)
    rows = [dataclasses.replace(row, setting=HARM, model=HARM) for row in described.rows]
    dataclasses.replace(described, title=HARM, thesis=HARM, aggregate=HARM, experiment="x", rows=rows).write(folder)
    array = {"name": HARM, "rows": HARM, "columns": HARM, "values": [[0.0, 1.0]]}
    states = {"phases": [HARM, HARM], "shares": [0.6, 0.1], "points": [[0.5, -0.5, 0, 0], [0.25, 1, 1, 1]]}
    samples = [{"context": HARM, "response": HARM, "answers": [HARM, ""]}]
    spans = [{"name": HARM, "start": 0}]
    document = {"title": HARM, "arrays": [array], "states": states, "samples": samples, "spans": spans}
    write_json(folder / "jobs/copy/ntm/seed-0/traces.json", document)
    Report(folder=folder).run()
    found = harmless((folder / "report.html").read_text())
    assert found.text.count("<script>x(") >= 5
    beside = (folder / "report.md").read_text()
    assert "<script" not in beside
    assert "<img" not in beside


def test_an_explanation_shows_what_others_wrote_as_text() -> None:
    event = Event(visit=1, view=HARM, code=HARM, name=HARM, write_gate=0.5, read=0.5, effect=0.1)
    recommended = Recommended(code=HARM, name=HARM, probability=0.5, true=True)
    explanation = Explanation(patient=HARM, visit=1, recommended=[recommended], events=[event])
    assert harmless(explanation_page(explanation, HARM)).text.count("<script>x(") >= 6


def test_every_page_maker_is_tested_here() -> None:
    makers = {path.relative_to(ROOT).as_posix() for path in SOURCES if "<html" in path.read_text()}
    elsewhere = {"mnemon/viewer/page.py"}  # tests/viewer/test_view.py, and in a browser
    own_words = {"mnemon/commands/demo_report.py"}  # nothing that others wrote
    assert makers == {"mnemon/report/page.py", "mnemon/ehr/page.py"} | elsewhere | own_words


def test_complaints_do_not_quote_patients(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    frame = pl.DataFrame({"subject_id": ["PATIENT-4711"], "time": ["yesterday"], "code": ["ICD9CM/1"]})
    frame.write_parquet(tmp_path / "data" / "0.parquet")
    with pytest.raises(UserError, match=r"0\.parquet is no shard of MEDS") as told:
        read_source(tmp_path)
    assert "4711" not in str(told.value)
    assert "yesterday" not in str(told.value)


def test_everything_that_is_installed_is_pinned() -> None:
    """The packages that the Makefile installs, and all that they need."""
    makefile = (ROOT / "Makefile").read_text()
    extras = re.findall(r'-c constraints.txt -e "\.\[([a-z,]+)\]"', makefile)[0].split(",")
    pinned = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    needed = set(_closure("mnemon", frozenset(extras), set()))
    assert needed - pinned == {"mnemon"}


def _closure(name: str, extras: frozenset[str], seen: set[tuple[str, frozenset[str]]]) -> Iterator[str]:
    key = re.sub(r"[-_.]+", "-", name).lower()
    if (key, extras) in seen:
        return
    seen.add((key, extras))
    yield key
    for line in importlib.metadata.requires(name) or []:
        requirement, _, marker = line.partition(";")
        found = re.match(r"([\w.-]+)\s*(?:\[([^]]*)\])?", requirement)
        assert found is not None
        try:
            importlib.metadata.distribution(found[1])
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system, or an extra that nobody asked for
        asked = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if asked is None or asked[1] in extras:
            more = frozenset(found[2].split(",")) if found[2] else frozenset[str]()
            yield from _closure(found[1], more, seen)
