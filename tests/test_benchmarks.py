"""The benchmarks that are programs of their own, in their smallest form."""

import os
import subprocess
import sys
from pathlib import Path

from mnemon.commands.page_tables import makers
from mnemon.training.files import read_json

ROOT = Path(__file__).parent.parent


def test_one_process_beside_two(tmp_path: Path) -> None:
    options = ["--rounds", "1", "--steps", "2", "--batches", "2", "4"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/processes.py"), *options, "--out", "processes.json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    made = read_json(tmp_path / "processes.json")
    assert [measured["batch"] for measured in made["batches"]] == [2, 4]
    for measured in made["batches"]:
        one, two = measured["rows"]
        assert (one["processes"], two["processes"]) == (1, 2)
        assert one["sequences_per_second"] > 0
        assert measured["ratio"] == round(two["rounds"][0] / one["rounds"][0], 3)
    assert made["parameters"] > 400_000
    assert made["provenance"]["threads"] == 1
    assert made["command"] == f"python benchmarks/processes.py {' '.join(options)}"
    _, _, first, second = makers(tmp_path)["processes"]([]).splitlines()
    assert first.startswith(f"| {made['parameters']:,} | 2 | ")
    assert second.endswith(f" | {made['batches'][1]['ratio']:.2f}× | 0% |")


def test_nothing_is_shown_that_was_not_measured(tmp_path: Path) -> None:
    assert makers(tmp_path)["processes"]([]) == ""
