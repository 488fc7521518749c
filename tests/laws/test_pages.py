"""The numbers on the pages are those on record."""

from pathlib import Path

import pytest

from mnemon.report.results import read_results
from mnemon.report.tables import mean_and_sd

ROOT = Path(__file__).parent.parent.parent
PAGES = {"fisher.md": "fisher-curves", "semantic.md": "semantic-stages", "gradients.md": "gradient-flow"}


@pytest.mark.parametrize("page", PAGES)
def test_page_has_the_table_on_record(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    rows = read_results(ROOT / "results" / PAGES[page]).rows
    for row in rows:
        line = f"| {row.described.setting} | {row.described.model} | {mean_and_sd(row)} | {len(row.values)} |"
        assert line in text
        assert len(row.values) >= 3
