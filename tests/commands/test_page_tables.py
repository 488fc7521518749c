"""Tables of pages about mnemon."""

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
    assert said["memorisation"] == ["1 run, 1 seed", "1 of 1 |"]
    assert said["odd-even"] == ["3 runs, 2 seeds", "1 of 2 |"]
    assert said["reasoning"] == said["babi"] == ["–", "– |"]
