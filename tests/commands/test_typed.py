"""The command as records keep it."""

import sys
from pathlib import Path

import pytest

from mnemon.commands.typed import typed


def test_a_path_from_the_root_keeps_its_last_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "eicu"
    arguments = ["run", "treatment", "--data", str(data), f"--out={data}", "--only", "copy L=50 DNC"]
    monkeypatch.setattr(sys, "argv", ["anything", *arguments])
    assert typed() == ["mnemon", "run", "treatment", "--data", "eicu", "--out=eicu", "--only", "copy L=50 DNC"]


def test_other_paths_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["anything", "run", "treatment", "--data", "../data/eicu", "--out=runs/x", ""])
    assert typed() == ["mnemon", "run", "treatment", "--data", "../data/eicu", "--out=runs/x", ""]
