"""``mnemon view`` on small runs."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mnemon.commands.train import Train
from mnemon.commands.view import ViewRun
from mnemon.errors import UserError

SMALL = Train(
    task="copy", hidden=6, slots=5, word=3, steps=2, batch_size=2, eval_every=2, eval_sequences=2, checkpoint_every=2
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for model in ("ntm", "nutm"):
        dataclasses.replace(SMALL, model=model, out=folder / model).run()
    return {model: folder / model for model in ("ntm", "nutm")}


def document(page: Path) -> dict[str, Any]:
    found = re.search(r'id="document">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def test_one_run(runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    ViewRun(folders=(runs["ntm"],)).run()
    page = runs["ntm"] / "view.html"
    assert f"wrote {page}" in capsys.readouterr().err
    (run,) = document(page)["runs"]
    assert run["title"] == "ntm on copy"
    assert run["facts"][0] == "trained for 2 steps"
    assert 20 < run["steps"] <= 42  # the longest of several


def test_two_runs_see_the_same_sequence(runs: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "both.html"
    ViewRun(folders=(runs["ntm"], runs["nutm"]), out=page, length=10, seed=3).run()
    first, second = document(page)["runs"]
    assert first["texts"] == second["texts"]
    assert first["steps"] >= 10
    assert (first["title"], second["title"]) == ("ntm on copy", "nutm on copy")


def test_which_sequence(runs: dict[str, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    def texts(**settings: Any) -> list[str]:
        ViewRun(folders=(runs["ntm"],), out=page, **settings).run()
        found: list[str] = document(page)["runs"][0]["texts"]
        return found

    assert texts(sequence=1) == texts(sequence=1) != texts(sequence=2)
    assert texts(sequence=1) != texts(sequence=1, seed=1)
    assert len(texts(test="length 20")) == 42
    assert len(texts(length=43)) == 122  # the training has none as long, so it comes from a test


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folders": ()}, "a page shows one run or two, not 0"),
        ({"length": 5, "sequence": 1}, "leave out --sequence or --length"),
        ({"sequence": -1}, "sequences count from 0"),
        ({"length": 0}, "length must be at least 1"),
        ({"length": 1000}, "there is no sequence of 1000 steps: write --length 242 or less"),
        ({"test": "length 61"}, "no test is called 'length 61': did you mean 'length 60'?"),
        ({"out": Path("nowhere/page.html")}, "there is no folder nowhere"),
    ],
)
def test_bad_settings(runs: dict[str, Path], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        ViewRun(**({"folders": (runs["ntm"],)} | settings)).run()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_words_of_a_users_own_file_stay_words(tmp_path: Path) -> None:
    words = ("</script>", "<b>", "&amp;")
    lines = [f"{number},{word},yes" for number in range(6) for word in words]
    (tmp_path / "train.csv").write_text("\n".join(["sequence,word,label", *lines]))
    run, page = tmp_path / "run", tmp_path / "page.html"
    dataclasses.replace(SMALL, task="csv", data=tmp_path, out=run).run()
    ViewRun(folders=(run,), data=tmp_path, out=page).run()
    (shown,) = document(page)["runs"]
    assert shown["texts"] == [f"word {word}" for word in words]
    assert page.read_text().count("</script>") == 2
