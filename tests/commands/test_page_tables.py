"""Tables of pages about mnemon."""

import json
from pathlib import Path

from mnemon.commands.page_tables import makers
from mnemon.experiments.catalogue import EXPERIMENTS
from tests.report.written import write_experiment


def test_experiments_say_what_is_on_record_and_how_far_it_agrees(tmp_path: Path) -> None:
    write_experiment(tmp_path / "memorisation", {"ntm": [0.5]})
    write_experiment(tmp_path / "odd-even", {"ntm": [0.2, 0.3], "dnc": [0.9]})
    write_experiment(tmp_path / "reasoning", {"ntm": []})
    _, _, *lines = makers(tmp_path)["experiments"]([]).splitlines()
    said = {line.split("`")[1]: line.split(" | ")[-2:] for line in lines}
    assert list(said) == list(EXPERIMENTS)
    assert said["memorisation"] == ["1 run, 1 seed, 50% of the steps", "1 of 1 |"]
    assert said["odd-even"] == ["3 runs, 2 seeds, 50% of the steps", "1 of 2 |"]
    assert said["reasoning"] == said["babi"] == ["–", "– |"]


def test_variants_are_those_with_the_words(tmp_path: Path) -> None:
    measured = [("plain", 8.0), ("uniform writing, interval 10", 4.0), ("2 stored programs", 10.0)]
    rows = [{"workload": "ntm", "variant": name, "train_ms": time, "share": time / 8} for name, time in measured]
    (tmp_path / "bench.json").write_text(json.dumps({"variants": rows}))
    head, _, *lines = makers(tmp_path)["variants"](["writing"]).splitlines()
    assert head == "| workload | plain | uniform writing, interval 10 |"
    assert lines == ["| `ntm` | 8 ms | 0.50 |"]
