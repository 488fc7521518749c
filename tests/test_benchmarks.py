"""The benchmarks that are programs of their own, in their smallest form."""

import os
import subprocess
import sys
from pathlib import Path

from mnemon.training.files import read_json

ROOT = Path(__file__).parent.parent


def test_one_process_beside_two(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/processes.py"), "--rounds", "1", "--steps", "2", "--batch", "2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "--out", "made.json"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    made = read_json(tmp_path / "made.json")
    one, two = made["rows"]
    assert (one["processes"], two["processes"]) == (1, 2)
    assert one["sequences_per_second"] > 0
    assert made["ratio"] == round(two["rounds"][0] / one["rounds"][0], 3)
    assert made["provenance"]["threads"] == 1
    assert made["command"] == "python benchmarks/processes.py --rounds 1 --steps 2 --batch 2"
