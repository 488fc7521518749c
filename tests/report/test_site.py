"""All experiments as a site."""

import re
from pathlib import Path

import pytest

from mnemon.commands.report import Report
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.report.site import CHAPTERS, chapter_of
from tests.pages import Watched
from tests.report.written import write_experiment


def test_chapters_have_pages_that_the_overview_leads_to(tmp_path: Path) -> None:
    write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]})
    write_experiment(tmp_path / "two", {"<b>dnc": [0.2]}, thesis="§6.5")
    Report(folder=tmp_path).run()
    pages = {path.name: path.read_text() for path in (tmp_path / "report").iterdir()}
    assert set(pages) == {"index.html", "chapter-6.html", "beyond.html"}
    for name, page in pages.items():
        for target in re.findall(r'href="([^"]+)"', page):
            file, _, place = target.partition("#")
            assert file in pages or not file
            assert not place or f'id="{place}"' in pages[file or name]
        assert "<b>dnc" not in page, name
    assert pages["index.html"].count("<td>1 of 1</td><td>–</td>") == 1
    assert pages["index.html"].count("<td>0 of 1</td><td>–</td>") == 1
    assert (tmp_path / "report.md").exists()


def test_every_experiment_has_its_chapter() -> None:
    pages = {name: chapter_of(experiment.thesis) for name, experiment in EXPERIMENTS.items()}
    assert set(pages.values()) == set(CHAPTERS)
    assert [name for name, page in pages.items() if page == "beyond"] == ["associative-recall-mqar"]


@pytest.mark.parametrize(("thesis", "page"), [("§7.4.1, Table 7.1", "chapter-7"), ("§1", "beyond"), ("", "beyond")])
def test_chapter_of(thesis: str, page: str) -> None:
    assert chapter_of(thesis) == page


@pytest.mark.parametrize("width", [1100, 420])
def test_pages_are_no_wider_than_the_window(watched: Watched, tmp_path: Path, width: int) -> None:
    """Wide tables are scrolled in a place of their own."""
    for name in ("one", "two"):
        models: dict[str, list[float | None]] = {
            f"{name}, a model of a very long name, {n} units": [0.5] for n in range(9)
        }
        write_experiment(tmp_path / name, models, thesis=f"§6.5, “{'A long title of a section ' * 3}”")
    Report(folder=tmp_path).run()
    watched.page.set_viewport_size({"width": width, "height": 800})
    for page in (tmp_path / "report").iterdir():
        watched.page.goto(page.as_uri())
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width, page.name
    assert watched.is_quiet()
