"""The code on the pages runs, and the tables say what there is."""

import json
import re
from pathlib import Path

import pytest

from mnemon.models.catalogue import MODELS
from mnemon.report.results import Row, read_results
from mnemon.report.tables import mean_and_sd, number

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


def test_readme_lists_every_model() -> None:
    readme = PAGES[0].read_text()
    for name, entry in MODELS.items():
        assert f"| `{name}` | {entry.summary} | {entry.thesis} | [{entry.file}]({entry.file}) |" in readme


def test_speeds_of_the_readme_are_those_on_record() -> None:
    times: dict[str, dict[str, float]] = {}
    for row in json.loads((ROOT / "results/bench.json").read_text())["rows"]:
        times.setdefault(row["workload"], {})[row["engine"]] = row["train_ms"]
    readme = (ROOT / "README.md").read_text()
    for workload, engines in times.items():
        native = engines["native"]
        peer = f"{engines['dnc (PyPI)'] / native:.1f}×" if "dnc (PyPI)" in engines else "–"
        reference, alone = f"{engines['reference'] / native:.1f}×", f"{engines['nn.LSTM'] / native:.2f}"
        assert f"| `{workload}` | {native:.0f} ms | {peer} | {reference} | {alone} |" in readme


@pytest.mark.parametrize("name", ["hopfield-capacity", "holographic-noise", "sdm-recall"])
def test_laws_of_associative_memories_are_those_on_record(name: str) -> None:
    page = (ROOT / "docs/associative.md").read_text()
    results = read_results(ROOT / "results" / name)
    for row in results.rows:
        described = row.described
        beside = number(described.thesis)
        assert f"| `{name}` | {described.setting} | {mean_and_sd(row)} | {len(row.values)} | {beside} |" in page


@pytest.mark.parametrize(("page", "name"), [("recall", "associative-recall-mqar"), ("stack", "stack-transduction")])
def test_tables_over_seeds_are_those_on_record(page: str, name: str) -> None:
    """Every mean, with its s.d. where there are several seeds, stands in the row of its model."""
    lines = (ROOT / f"docs/{page}.md").read_text().splitlines()
    for row in read_results(ROOT / "results" / name).rows:
        own = [line for line in lines if line.startswith(f"| {row.described.model} |")]
        assert row.mean is not None
        shown = f"{row.mean:.1f}" if row.sd is None else f"{row.mean:.1f} ± {row.sd:.1f}"
        assert any(f"| {shown} |" in line for line in own), (row.described.model, row.described.setting, shown)


def variational_table() -> list[str]:
    """The rows of the page on variational models, from the runs on record."""
    measured: dict[str, dict[str, Row]] = {}
    for row in read_results(ROOT / "results/multi-modal").rows:
        measured.setdefault(row.described.model, {})[row.described.setting] = row
    lines = []
    for model, by_setting in measured.items():
        runs = next(iter(by_setting.values())).runs
        if runs:
            cells = [f"{row.mean:.1f}" if abs(row.mean or 0) > 5 else f"{row.mean:.2f}" for row in by_setting.values()]
            lines.append(" | ".join([f"| {model}", f"{runs[0].total:,}", str(len(runs)), *cells]) + " |")
    return lines


def test_results_of_variational_models_are_those_on_record() -> None:
    page = (ROOT / "docs/variational.md").read_text()
    assert variational_table()
    for line in variational_table():
        assert line in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target
