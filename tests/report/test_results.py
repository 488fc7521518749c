from dataclasses import replace
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.report.curves import learning_curve
from mnemon.report.description import read_description
from mnemon.report.results import find_experiments, read_results
from mnemon.report.tables import cells, document, duration, facts, markdown, number
from mnemon.training.files import read_json, write_json
from tests.report.written import MACHINE, write_experiment


def test_rows_are_means_over_seeds(tmp_path: Path) -> None:
    results = read_results(write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7], "dnc": [0.9], "lstm": []}))
    oracle, ntm, dnc, lstm = document(results)["rows"]
    assert ntm["mean"] == pytest.approx(60.0)
    assert ntm["sd"] == pytest.approx(200**0.5)
    assert (ntm["n"], ntm["best"], ntm["thesis"], ntm["scale"]) == (2, 70.0, 50.0, 0.5)
    assert (ntm["parameters"], ntm["total_parameters"], ntm["thesis_parameters"]) == (1_000, 1_200, 7)
    assert (ntm["metric"], ntm["seconds"]) == ("accuracy (%)", 60.0)
    assert (dnc["mean"], dnc["sd"], dnc["n"]) == (90.0, None, 1)
    assert (lstm["mean"], lstm["parameters"], lstm["n"]) == (None, None, 0)
    assert (oracle["mean"], oracle["n"], oracle["thesis"]) == (None, 0, 100.0)


def test_provenance_has_each_machine_once(tmp_path: Path) -> None:
    results = read_results(write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7], "dnc": [0.9]}))
    provenance = document(results)["provenance"]
    assert provenance["machines"] == [MACHINE]
    assert provenance["revisions"] == []
    assert provenance["seeds"] == [0, 1]
    assert provenance["command"] == ["mnemon", "run", "copying", "--seeds", "2", "--scale", "0.5"]


def test_revisions_are_told_once_each_beside_one_machine(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7], "dnc": [0.9]})
    for path, told in zip(sorted(folder.rglob("summary.json")), ["aa", "bb-dirty", "aa"], strict=True):
        write_json(path, read_json(path) | {"provenance": MACHINE | {"revision": told}})
    results = read_results(folder)
    assert (results.machines, sorted(results.revisions)) == ([MACHINE], ["aa", "bb-dirty"])
    (line,) = [line for line in facts(results) if line.startswith("revisions")]
    assert line == f"revisions of mnemon: {', '.join(results.revisions)}"


def test_lower_may_be_better_and_plain(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]}, percent=False, better="lower")
    row = document(read_results(folder))["rows"][1]
    assert (row["best"], row["mean"], row["metric"]) == (0.5, pytest.approx(0.6), "accuracy")


def test_a_value_that_is_not_finite_is_left_out(tmp_path: Path) -> None:
    row = document(read_results(write_experiment(tmp_path / "one", {"ntm": [None, 0.5]})))["rows"][1]
    assert (row["n"], row["mean"]) == (1, 50.0)


def test_unfinished_runs_do_not_count(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]})
    (folder / "jobs/copy/ntm/seed-1/summary.json").unlink()
    assert document(read_results(folder))["rows"][1]["n"] == 1


def test_cells_and_markdown(tmp_path: Path) -> None:
    results = read_results(write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]}))
    assert cells(results.rows[1]) == (
        "copy",
        "ntm",
        "60.00 ± 14.14",
        "2",
        "70.00",
        "50.00",
        "1,000 of 1,200",
        "7",
        "0:01:00",
    )
    assert cells(results.rows[0])[2:] == ("–", "–", "–", "100.00", "–", "–", "–")
    text = markdown(results)
    assert "| copy | ntm | 60.00 ± 14.14 | 2 |" in text
    assert "`mnemon run copying --seeds 2 --scale 0.5`" in text
    assert "thesis: §1, best of 3" in text


def test_the_spread_has_the_digits_of_the_mean(tmp_path: Path) -> None:
    folder = write_experiment(
        tmp_path / "one",
        {"ntm": [1.5, 1.5], "stm": [0.9998, 0.9999], "shm": [0.0999, 0.1], "dnc": [0.001, 0.002], "lrua": [0.05, 0.07]},
        percent=False,
    )
    assert [cells(row)[2] for row in read_results(folder).rows[1:]] == [
        "1.50 ± 0.00",
        "1.00 ± 0.00",
        "0.100 ± 0.000",
        "0.00150 ± 0.00071",
        "0.0600 ± 0.0141",
    ]


def test_numbers_and_times() -> None:
    assert [number(value) for value in (None, 0.0, 97.654, 0.00123456)] == ["–", "0.00", "97.65", "0.001235"]
    assert [duration(value) for value in (None, 59.6, 3_725.0)] == ["–", "0:01:00", "1:02:05"]


def test_curves_are_of_the_tests_where_there_are_enough(tmp_path: Path) -> None:
    results = read_results(write_experiment(tmp_path / "one", {"ntm": [0.3, 0.6], "lstm": []}))
    curve = learning_curve(results, results.rows[1])
    assert curve is not None
    assert curve.steps == [10, 20, 30]
    assert curve.means == pytest.approx([15.0, 30.0, 45.0])
    assert curve.sds[-1] == pytest.approx(450**0.5)
    assert learning_curve(results, results.rows[2]) is None


def test_experiments_are_found_at_any_depth(tmp_path: Path) -> None:
    one = write_experiment(tmp_path / "a/one", {"ntm": [0.5]})
    two = write_experiment(tmp_path / "two", {"ntm": [0.5]})
    assert find_experiments(tmp_path) == [one, two]
    assert find_experiments(one) == [one]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "does not describe a mnemon experiment"),
        ('{"format": "mnemon experiment", "version": 9}', "has version 9; this mnemon reads version 1"),
        ('{"format": "mnemon experiment", "version": 1, "rows": []}', "is damaged"),
        ("not json", "is not a JSON document"),
    ],
)
def test_damaged_descriptions_are_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(UserError, match=message):
        read_results(tmp_path)


def test_damaged_summaries_are_named(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5]})
    (folder / "jobs/copy/ntm/seed-0/summary.json").write_text("{}")
    with pytest.raises(UserError, match=r"summary.json is not the summary of a run of copying: no 'config'"):
        read_results(folder)


def test_measures_of_the_trace(tmp_path: Path) -> None:
    folder = write_experiment(tmp_path / "one", {"ntm": [0.5, 0.7]}, percent=False)
    described = read_description(folder)
    rows = [replace(row, metric="silhouette", traced=True) for row in described.rows]
    replace(described, rows=rows).write(folder)
    for seed, value in enumerate((0.25, None)):
        write_json(folder / f"jobs/copy/ntm/seed-{seed}/traces.json", {"measures": {"silhouette": value}})
    results = read_results(folder)
    assert document(results)["rows"][1]["metric"] == "silhouette"
    assert results.rows[1].values == [0.25]
    assert learning_curve(results, results.rows[1]) is None
    write_json(folder / "jobs/copy/ntm/seed-0/traces.json", {})
    with pytest.raises(UserError, match=r"traces.json has no silhouette: move its run away"):
        read_results(folder)
