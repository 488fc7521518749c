"""How far an experiment agrees with the thesis."""

from pathlib import Path

import pytest

from mnemon.report.agreement import Agreement, agreement
from mnemon.report.description import Description, RowDescription
from mnemon.report.results import read_results
from tests.report.written import write_experiment, write_run


def write(folder: Path, rows: dict[str, tuple[float, float | None]], *, percent: bool, better: str) -> Path:
    """By model: the thesis's value, and ours."""
    described = [
        RowDescription(setting="s", model=m, folder=f"s/{m}", test="held out", thesis=thesis, thesis_parameters=None)
        for m, (thesis, _) in rows.items()
    ]
    folder.mkdir()
    Description(
        experiment="e", title="t", thesis="§1", metric="accuracy", percent=percent, better=better, aggregate="a",  # type: ignore[arg-type]
        scale=1.0, rows=described,
    ).write(folder)  # fmt: skip
    for model, (_, value) in rows.items():
        if value is not None:
            write_run(folder / f"jobs/s/{model}/seed-0", value)
    return folder


def test_percentages_may_be_three_points_lower(tmp_path: Path) -> None:
    rows: dict[str, tuple[float, float | None]] = {
        "a": (90.0, 0.87),
        "b": (80.0, 0.76),
        "c": (70.0, 0.99),
        "d": (5.0, None),
    }
    found = agreement(read_results(write(tmp_path / "e", rows, percent=True, better="higher")))
    assert found == Agreement(
        rows=3, as_good=2, pairs=3, alike=1, of_best=False
    )  # a before b; c should be last, and is first
    assert str(found) == "2 of 3 as good as the thesis's; 1 of 3 pairs of models in the thesis's order"
    assert found.brief == "2 of 3, order 1 of 3"


def test_other_numbers_may_be_three_per_cent_worse_and_lower_may_be_better(tmp_path: Path) -> None:
    rows: dict[str, tuple[float, float | None]] = {"a": (1.0, 1.02), "b": (2.0, 2.07), "c": (2.0, 0.1)}
    found = agreement(read_results(write(tmp_path / "e", rows, percent=False, better="lower")))
    assert found == Agreement(rows=3, as_good=2, pairs=2, alike=1, of_best=False)  # b and c are equal in the thesis


def test_the_best_run_counts_where_the_thesis_prints_its_best(tmp_path: Path) -> None:
    """Both models have 50 in the thesis, and one good run of two."""
    folder = write_experiment(tmp_path / "one", {"ntm": [0.1, 0.48], "dnc": [0.1, 0.46]})
    found = agreement(read_results(folder))
    assert found == Agreement(rows=2, as_good=1, pairs=0, alike=0, of_best=True)
    assert str(found) == "1 of 2 as good as the thesis's, by the best run of each"


@pytest.mark.parametrize("values", [{}, {"ntm": [None]}])
def test_without_a_number_there_is_nothing_to_say(tmp_path: Path, values: dict[str, list[float | None]]) -> None:
    found = agreement(read_results(write_experiment(tmp_path / "one", values)))
    assert str(found) == "no value of the thesis to compare with"
    assert found.brief == ""
