"""``mnemon demo``, with next to no training: its report, and the pages that it leads to."""

import dataclasses
import re
from pathlib import Path

import pytest

from mnemon.commands import demo
from mnemon.commands.view import ViewRun
from tests.pages import Watched, step


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        short = dataclasses.replace(demo.TRAINING, steps=2, eval_every=2, eval_sequences=2)
        patch.setattr(demo, "TRAINING", short)
        demo.Demo(out=out).run()
    return out


def test_the_report_leads_to_pages_that_need_nothing_else(folder: Path) -> None:
    report = (folder / "report.html").read_text()
    assert re.findall(r'href="([^"]+)"', report) == ["memory.html", "beside.html"]
    assert "<td>ntm</td><td>29,268</td>" in report
    for page in ("report", "memory", "beside"):
        assert "http:" not in (folder / f"{page}.html").read_text().replace("http-equiv", "")
    assert "ntm on copy, length 16 beside lstm on copy, length 16" in (folder / "beside.html").read_text()


def test_its_runs_are_like_any_others(folder: Path, tmp_path: Path) -> None:
    ViewRun(folders=(folder / "ntm",), sequence=0, out=tmp_path / "view.html").run()
    assert "ntm on copy" in (tmp_path / "view.html").read_text()


def test_the_memory_is_watched_in_a_browser(folder: Path, watched: Watched, screenshots: Path) -> None:
    page = watched.page
    page.goto((folder / "report.html").as_uri())
    page.screenshot(path=screenshots / "demo-report.png")
    page.get_by_text("Watch the memory at work").click()
    page.wait_for_selector("body[data-drawn]", timeout=60_000)
    page.keyboard.press("End")
    assert step(page) == 33
    page.screenshot(path=screenshots / "demo-memory.png")
    assert watched.is_quiet(), watched.complaints
