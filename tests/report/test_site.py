"""All experiments as a site."""

import re
from pathlib import Path

import pytest

from mnemon.commands.report import Report
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.report.site import CHAPTERS, chapter_of
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
    assert "1 of 1 as good" in pages["index.html"]
    assert "0 of 1 as good" in pages["index.html"]
    assert (tmp_path / "report.md").exists()


def test_every_experiment_has_its_chapter() -> None:
    pages = {name: chapter_of(experiment.thesis) for name, experiment in EXPERIMENTS.items()}
    assert set(pages.values()) == set(CHAPTERS)
    assert [name for name, page in pages.items() if page == "beyond"] == ["associative-recall-mqar"]


@pytest.mark.parametrize(("thesis", "page"), [("§7.4.1, Table 7.1", "chapter-7"), ("§1", "beyond"), ("", "beyond")])
def test_chapter_of(thesis: str, page: str) -> None:
    assert chapter_of(thesis) == page
