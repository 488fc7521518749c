"""Files of a run that were damaged are found out, named, and replaced by what is still good."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.training.files import DamagedFile, read_json, write_json
from mnemon.training.interrupt import Interrupted
from tests.training.test_resume import SignalDuring
from tests.training.tiny_training import run_tiny, tiny_config, weights_and_records


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(bytes(data))


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A run that was interrupted after seven of ten steps, with checkpoints at 4 and 7."""
    with pytest.raises(Interrupted):
        run_tiny(tmp_path / "cut", task=SignalDuring(step=7))
    return tmp_path / "cut"


@pytest.mark.parametrize("damage", [flip, tear, empty])
@pytest.mark.parametrize("count", [1, 2])
def test_a_damaged_checkpoint_is_set_aside_and_an_older_one_used(
    tmp_path: Path, cut: Path, damage: Callable[[Path], None], count: int
) -> None:
    """With both gone the run begins again: it ends with the same either way."""
    checkpoints = sorted((cut / "checkpoints").iterdir(), reverse=True)
    assert len(checkpoints) == 2
    for path in checkpoints[:count]:
        damage(path)
    with pytest.warns(UserWarning, match=r"step-0000000\d.safetensors (is|has) .*; looking for an older one"):
        run_tiny(cut, resume=True)
    run_tiny(tmp_path / "whole")
    assert len(list(cut.rglob("*.damaged"))) == count
    for aside in cut.rglob("*.damaged"):
        aside.unlink()
    assert weights_and_records(cut) == weights_and_records(tmp_path / "whole")


@pytest.mark.parametrize("damage", [flip, tear, empty, Path.unlink])
def test_damaged_records_are_written_anew_from_the_checkpoint(
    tmp_path: Path, cut: Path, damage: Callable[[Path], None]
) -> None:
    damage(cut / "records.jsonl")
    run_tiny(cut, resume=True)
    run_tiny(tmp_path / "whole")
    assert weights_and_records(cut) == weights_and_records(tmp_path / "whole")


@pytest.mark.parametrize("damage", [flip, tear, empty])
def test_a_damaged_description_is_written_anew(tmp_path: Path, cut: Path, damage: Callable[[Path], None]) -> None:
    before = (cut / "run.json").read_bytes()
    damage(cut / "run.json")
    with pytest.warns(UserWarning, match=r"run.json (is|does|holds) .*; it is written anew"):
        run_tiny(cut, resume=True)
    assert (cut / "run.json").read_bytes() == before
    damage(cut / "run.json")
    with pytest.raises(UserError, match=r"has training.seed 0, not 3"), pytest.warns(UserWarning, match="run.json"):
        run_tiny(cut, tiny_config(seed=3, steps=20), resume=True)


def test_every_flipped_bit_of_a_document_is_found_or_means_nothing(tmp_path: Path) -> None:
    path, said = tmp_path / "summary.json", {"steps": 10, "loss": 0.1 + 0.2, "metrics": {"same": {"errors": None}}}
    write_json(path, said)
    data = path.read_bytes()
    assert read_json(path) == said
    refused = 0
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 7
        path.write_bytes(bytes(damaged))
        try:
            found = read_json(path)
        except DamagedFile:
            refused += 1
        else:
            assert {name: found.get(name) for name in said} == said
    assert refused > 0.9 * len(data) - 30
    path.write_text(json.dumps(said))  # one that someone wrote by hand
    assert read_json(path) == said


def test_two_processes_in_one_folder_are_refused_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    """The other process dies by SIGKILL while it holds the folder."""
    script = (
        "import os, signal, sys, time; from pathlib import Path;"
        "from mnemon.training.directory import RunDirectory;"
        "owned = RunDirectory(Path(sys.argv[1])).owned(); owned.__enter__(); print('held', flush=True); time.sleep(60)"
    )
    root = str(Path(__file__).parents[2])
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with pytest.raises(UserError, match=r"another mnemon is at work in .*run: wait for it, or choose another folder"):
        run_tiny(tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []
    other.kill()
    other.wait()
    other.stdout.close()
    run_tiny(tmp_path / "run")


def test_a_folder_made_for_a_refused_run_goes_again(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run to resume"):
        run_tiny(tmp_path / "nowhere", resume=True)
    assert list(tmp_path.iterdir()) == []
