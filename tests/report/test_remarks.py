"""Remarks stand under every table of their experiment, and whatever is in them stays text."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.commands.report import Report
from mnemon.errors import UserError
from mnemon.report.filling import END, fill, makers_of_results
from mnemon.report.remarks import read_remarks, remarks_as_html, remarks_as_markdown
from tests.command_server import run
from tests.report.written import write_experiment

markdown = pytest.importorskip("markdown")

HARM = "<script>alert(1)</script> [go](javascript:alert(1)) {: onclick=alert(1)} <!-- end of table -->\n\n# no title"


class Tags(HTMLParser):
    """What a page consists of beside its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(name for name, _ in attrs)}


def write(folder: Path, remarks: bytes) -> Path:
    write_experiment(folder, {"ntm": [0.5]})
    (folder / "remarks.md").write_bytes(remarks)
    return folder


def test_paragraphs_are_read_and_their_lines_joined(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", b"\n\nNot as\n  good.\r\n \r\nToo few `steps`.\n")
    assert read_remarks(folder) == ("Not as good.", "Too few `steps`.")
    assert read_remarks(tmp_path) == ()


def test_remarks_are_under_the_table_on_every_page(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", b"Too few `steps` & seeds.")
    write_experiment(tmp_path / "two", {"ntm": [0.5]})
    Report(folder=tmp_path).run()
    for page in (tmp_path / "report/beyond.html", tmp_path / "report.md"):
        text = page.read_text()
        assert text.count("Too few ") == 1
        assert text.index("50.00") < text.index("Too few ")
    assert (
        '</table></div>\n<p class="remark">Too few <code>steps</code> &amp; seeds.</p>'
        in (tmp_path / "report/beyond.html").read_text()
    )
    for kind in ("results", "laws"):
        filled = fill(f"<!-- table: {kind} {folder.name} -->\n{END}\nafter\n", makers_of_results(tmp_path))
        assert filled.endswith(f" |\n\nToo few `steps` & seeds.\n\n{END}\nafter\n")
        assert fill(filled, makers_of_results(tmp_path)) == filled


def test_a_campaign_tells_them_too(tmp_path: Path) -> None:
    out = f"[/b] a folder of a name that is{' very' * 40} long"
    options = ("run", "sdm-recall", "--scale", "0.01", "--seeds", "1", "--jobs", "1", "--out", out)
    first = run(*options, folder=tmp_path)
    assert first.stderr.endswith(f"\nkept in {out}; mnemon report {out}\n"), "whole, to be copied"
    (tmp_path / out / "remarks.md").write_bytes(b"[bold]Rough[/bold] \xff")
    done = run(*options, "--resume", folder=tmp_path)
    assert "[bold]Rough[/bold] \N{REPLACEMENT CHARACTER}\n" in done.stdout
    assert "Rough" not in run(*options, "--resume", "--json", folder=tmp_path).stdout


def test_what_would_act_on_a_page_is_shown_instead(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", HARM.encode())
    makers = makers_of_results(tmp_path)
    filled = fill(f"<!-- table: results one -->\n{END}\nafter\n", makers)
    assert fill(filled, makers) == filled, "the mark in the remark ends no table"
    extensions = ["tables", "attr_list"]
    assert Tags(markdown.markdown(filled, extensions=extensions)).found <= {
        *("p", "table", "thead", "tbody", "tr", "th", "td"),
    }
    Report(folder=folder).run()
    page = (folder / "report.html").read_text()
    assert not Tags(page).found & {"script", "onclick", "h3"}
    assert "&lt;script&gt;alert(1)" in page


@given(st.binary() | st.text(alphabet="<>[]{}()`*_#!:&\\-=| \n\0aé\u202e").map(str.encode))
def test_any_bytes_are_text(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "remarks.md").write_bytes(data)
    remarks = read_remarks(folder)
    assert all(remark.isprintable() for remark in remarks)
    assert Tags(remarks_as_html(remarks)).found <= {"p", "class", "code"}
    shown = Tags(markdown.markdown(remarks_as_markdown(remarks), extensions=["tables", "attr_list"])).found
    assert shown <= {"p", "code", "em", "strong", "br", "hr", "ol", "li"}


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "remarks.md").mkdir()
    with pytest.raises(UserError, match=r"^cannot read .*remarks.md: Is a directory$"):
        read_remarks(tmp_path)
