"""Tables within pages."""

import re
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.report.filling import END, fill, makers_of_results
from mnemon.report.results import read_results
from tests.report.written import write_experiment

RESULTS = Path(__file__).parents[2] / "results"


def page(wanted: str, old: str = "| old |\n") -> str:
    return f"before\n<!-- table: {wanted} -->\n{old}{END}\nafter\n"


def test_what_stands_between_the_comments_is_made_anew_and_nothing_else() -> None:
    filled = fill(page("shout a b") + page("shout c", ""), {"shout": lambda names: "".join(names).upper() + "\n"})
    assert filled == page("shout a b", "AB\n") + page("shout c", "C\n")
    assert fill("no table here", {}) == "no table here"


def test_filling_twice_is_filling_once() -> None:
    makers = makers_of_results(RESULTS)
    once = fill(page("results odd-even") + page("laws hopfield-capacity"), makers)
    assert fill(once, makers) == once
    assert "| DCw-MANN | " in once
    assert "(thesis: 0.08" in once
    assert "| Q/N (%), 1 % wrong in one step | 18" in once


def test_many_settings_stand_upright() -> None:
    """A line for each setting and a column for each model, with the number of the one in the other."""
    filled = fill(page("results babi-memory-networks"), makers_of_results(RESULTS))
    head, _, *lines = [line.strip("| ").split(" | ") for line in filled.splitlines() if line.startswith("|")]
    column = head.index("MemN2N, 3 hops")
    (row,) = (
        row
        for row in read_results(RESULTS / "babi-memory-networks").rows
        if row.described.setting == "mean" and row.described.model == "MemN2N, 3 hops"
    )
    assert [line[column] for line in lines if line[0] == "mean"] == [f"{row.mean:.2f}"]
    assert [line[0] for line in lines][:3] == ["parameters", "seeds", "mean"]
    assert not any("quoted" in name for name in head)
    assert re.search(r"\nIn the thesis: DNC, quoted, mean: [\d.]+; .*\.\n", filled)


def test_the_best_run_stands_beside_the_mean_where_the_thesis_prints_its_best(tmp_path: Path) -> None:
    write_experiment(tmp_path / "best", {"ntm": [0.25, 0.75]})
    write_experiment(tmp_path / "mean", {"ntm": [0.25, 0.75]}, aggregate="mean of 3")
    write_experiment(tmp_path / "one", {"ntm": [0.25]})
    makers = makers_of_results(tmp_path)
    assert "| 50.00 ± 35.36, best 75.00 (thesis: 50.00) |" in fill(page("results best"), makers)
    assert "| 50.00 ± 35.36 (thesis: 50.00) |" in fill(page("results mean"), makers)
    assert "| 25.00 (thesis: 50.00) |" in fill(page("results one"), makers)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<!-- table: results odd-even -->\n| old |\n", "has no end: write <!-- end of table -->"),
        (page("resuls odd-even"), "did you mean 'results'"),
        (page("results"), "write results NAME"),
        (page("results nowhere"), "nowhere"),
    ],
)
def test_a_page_that_asks_for_what_there_is_not_is_told(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        fill(text, makers_of_results(RESULTS))
