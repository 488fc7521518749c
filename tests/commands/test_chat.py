"""``mnemon chat`` on small runs: what is said depends on the lines, the seed and what the run has kept alone."""

import dataclasses
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mnemon.commands.chat import Chat
from mnemon.commands.train import Train
from mnemon.errors import UserError
from tests.data.tiny_talk import write_pairs

SMALL = Train(
    task="dialogue-pairs",
    hidden=6,
    slots=3,
    word=4,
    steps=3,
    batch_size=2,
    learning_rate=0.01,
    anneal=0.0,
    eval_every=3,
    checkpoint_every=3,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The data are gone when the runs are used."""
    data, out = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("runs")
    write_pairs(data)
    for model, heads in (("vmed", 2), ("seq2seq", 1)):
        dataclasses.replace(SMALL, model=model, heads=heads, data=data, out=out / model).run()
    shutil.rmtree(data)
    return {path.name: path for path in out.iterdir()}


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: Path, text: str, **settings: Any
) -> str:
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    Chat(folder=run, **settings).run()
    return capsys.readouterr().out


def test_every_line_is_answered(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = said(capsys, monkeypatch, runs["vmed"], "hello number 3\nyou\n", samples=2).splitlines()
    assert [line[:3] for line in lines] == ["1  ", "2  ", "1  ", "2  "]
    drawn = said(capsys, monkeypatch, runs["vmed"], "hello\n", temperature=1.0)
    assert len(drawn.splitlines()) == 3
    assert "[modes " in drawn
    one = said(capsys, monkeypatch, runs["vmed"], "hello\n", temperature=1.0, mode=1, samples=8)
    modes = [set(line.split("[modes ")[1].rstrip("]").split()) for line in one.splitlines() if "[modes" in line]
    assert modes
    assert all(each == {"1"} for each in modes)


def test_the_same_seed_says_the_same(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, other = (
        said(capsys, monkeypatch, runs["vmed"], "hello\nyou ?\n", temperature=1.0, seed=seed) for seed in (1, 1, 2)
    )
    assert first == second != other


def test_the_context_is_the_chat_so_far(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[list[str]] = []

    def context(self: Any, turns: list[str]) -> list[int]:
        heard.append(list(turns))
        return [0]

    monkeypatch.setattr("mnemon.tasks.wording.Wording.context", context)
    lines = said(capsys, monkeypatch, runs["seq2seq"], "hello\n\nyou\n", samples=1).splitlines()
    first, second = (line[3:].replace("(nothing)", "") for line in lines[:2])
    assert heard[1:] == [["hello"], ["hello", first, ""], ["hello", first, "", second, "you"]]


@pytest.mark.parametrize("text", ["\n", "   \n", "", "zyx 😀 \ufffd\n", "hello " * 500 + "\n", "\x00\x07\n"])
def test_whatever_is_said(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    lines = said(capsys, monkeypatch, runs["seq2seq"], text, samples=1).splitlines()
    answers = [line for line in lines if line.startswith("1  ")]
    assert len(answers) == text.count("\n")
    if "zyx" in text:
        assert lines[0] == "   (unknown to it: zyx, 😀, \ufffd)"
    if "hello" in text:
        assert lines[0] == "   (of 500 words it reads the last 20)"


def test_bytes_that_are_no_text(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"hello \xff\n"), encoding="utf-8"))
    Chat(folder=runs["seq2seq"], samples=1).run()
    assert "unknown to it: \ufffd" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"samples": 0}, "samples must be"),
        ({"temperature": -1.0}, "temperature must be 0"),
        ({"top_p": 0.0}, "top_p must be above 0"),
        ({"mode": 2}, "this model has 2 modes: write a mode from 0 to 1, not 2"),
    ],
)
def test_settings_that_are_none(runs: dict[str, Path], settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        Chat(folder=runs["vmed"], **settings).run()
    with pytest.raises(UserError, match="this model has no modes: leave out mode"):
        Chat(folder=runs["seq2seq"], mode=0).run()


def test_a_run_that_is_not_of_dialogue(tmp_path: Path, runs: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=r"there is no run in .*nowhere: write a folder that mnemon train has made"):
        Chat(folder=tmp_path / "nowhere").run()
    other = tmp_path / "other"
    shutil.copytree(runs["seq2seq"], other)
    (other / "task.json").write_text(json.dumps({"words": [1]}))
    with pytest.raises(UserError, match=r"task\.json has no list of words: it is not of a run on dialogue, or damaged"):
        Chat(folder=other).run()
    (other / "task.json").unlink()
    with pytest.raises(UserError, match="was not trained on dialogue: write the folder of one that was"):
        Chat(folder=other).run()


def test_a_run_keeps_its_words_and_goes_on_with_no_others(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    run = dataclasses.replace(SMALL, model="seq2seq", data=tmp_path, out=tmp_path / "run")
    run.run()
    words = json.loads((tmp_path / "run/task.json").read_text())["words"]
    assert words[:3] == ["?", "are", "hello"]
    dataclasses.replace(run, resume=True, steps=4).run()
    path = tmp_path / "pairs.tsv"
    path.write_text(path.read_text().replace("hello", "goodbye"))
    with pytest.raises(UserError, match=r"task\.json is of other data"):
        dataclasses.replace(run, resume=True, steps=5).run()
