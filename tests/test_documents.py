"""The code on the pages runs, and the tables say what there is."""

import re
from pathlib import Path

import pytest

from mnemon.commands.page_tables import makers
from mnemon.report.filling import fill

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code: str) -> None:
    exec(compile(code, "example", "exec"), {})


def test_readme_example_is_short() -> None:
    code = re.findall(r"```python\n(.*?)```", PAGES[0].read_text(), re.DOTALL)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_are_those_on_record(page: Path) -> None:
    """``mnemon report results --pages README.md docs/*.md`` makes them."""
    assert fill(page.read_text(), makers(ROOT / "results")) == page.read_text()


def test_readme_has_its_tables() -> None:
    readme = PAGES[0].read_text()
    for kind in ("models", "speeds", "experiments"):
        assert f"<!-- table: {kind} -->" in readme


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
