"""``mnemon ehr train``, ``evaluate``, ``recommend`` and ``explain``, from their arguments to what they print."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mnemon.cli import main
from mnemon.ehr.runs import train_on
from tests.ehr.tiny_visits import PATIENT, prepare_hospital, quick, small

SMALL = ["--hidden", "4", "--slots", "3", "--word", "3", "--embedding", "3", "--heads", "1"]
QUICK = ["--steps", "4", "--eval-every", "2", "--batch-size", "4", *SMALL]


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: object
    out: str
    err: str


class Shell:
    """Runs commands as ``mnemon`` does, without a new process for each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capture = monkeypatch, capture

    def __call__(self, *arguments: object) -> Said:
        self.monkeypatch.setattr(sys, "argv", ["mnemon", *map(str, arguments)])
        self.monkeypatch.setenv("COLUMNS", "200")
        self.capture.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        found = self.capture.readouterr()
        return Said(code, found.out, found.err)

    def json(self, *arguments: object) -> Any:
        said = self(*arguments, "--json")
        assert said.code == 0, said.err
        return json.loads(said.out)


@pytest.fixture
def mnemon(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


class Places(NamedTuple):
    """Folders that a run needs."""

    folder: Path
    run: Path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """A run on a folder that knows its patients, which no output may tell unless asked."""
    root = tmp_path_factory.mktemp("hospital")
    folder = prepare_hospital(root, "drugs-set", patients=9, keep_ids=True)
    train_on(folder, root / "run", small(name="dmnc-late"), quick())
    return Places(folder, root / "run")


def tells(text: str | bytes) -> bool:
    """Whether a text has a number of the source."""
    data = text.encode() if isinstance(text, str) else text
    return any(number in data for number in (b"987654", b"555432"))


@pytest.mark.parametrize(
    ("task", "model"), [("procedures", "dcw-mann"), ("drugs-set", "dmnc-early"), ("next-diagnoses", "dmnc-late")]
)
def test_from_a_folder_to_reasons(mnemon: Shell, tmp_path: Path, task: str, model: str) -> None:
    folder = prepare_hospital(tmp_path, task, patients=9, keep_ids=True)
    run, page = tmp_path / "run", tmp_path / "why.html"
    trained = mnemon.json("ehr", "train", folder, "--model", model, "--out", run, *QUICK)
    assert (trained["run"], trained["steps"]) == (str(run), 4)
    assert set(trained["metrics"]) == {"valid", "test"}
    measured = mnemon.json("ehr", "evaluate", run)
    assert measured["step"] == 4
    assert measured["metrics"]["test"] == {"loss": measured["metrics"]["test"]["loss"], **trained["metrics"]["test"]}
    advised = mnemon.json("ehr", "recommend", run, 1, "--top", 2)
    assert (advised["patient"], len(advised["recommended"])) == ("1", 2)
    odds = [entry["probability"] for entry in advised["recommended"]]
    assert odds == sorted(odds, reverse=True)
    explained = mnemon.json("ehr", "explain", run, 1, "--top", 2, "--html", page)
    assert explained["recommended"] == advised["recommended"]
    assert explained["visit"] == advised["visit"]
    assert {event["view"] for event in explained["events"]} <= {"diagnosis", "procedure"}
    assert page.read_text().startswith("<!doctype html>")
    assert "<script" not in page.read_text()
    for document in (trained, measured, advised, explained):
        assert not tells(json.dumps(document))
    for path in (*run.rglob("*"), page):
        assert path.is_dir() or not tells(path.read_bytes()), path


def test_tables_for_people(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    run = places.run
    said = mnemon("ehr", "evaluate", run, "--split", "valid")
    assert "auc_macro" in said.out
    said = mnemon("ehr", "recommend", run, 0)
    assert "drug for patient 0, visit" in said.out
    said = mnemon("ehr", "explain", run, 0, "--html", tmp_path / "why.html")
    assert "events, the largest effect first" in said.out
    assert said.err == ""
    assert not tells(said.out)
    trained = mnemon("ehr", "train", places.folder, "--model", "seq2seq", "--out", tmp_path / "run", *QUICK)
    assert "seq2seq, " in trained.out
    assert trained.code == 0


def test_ids_are_shown_when_asked(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    known = json.loads((places.folder / "patients.json").read_text())["patients"]
    page = tmp_path / "why.html"
    for command in (["recommend"], ["explain", "--html", page]):
        name, *options = command
        by_id = mnemon.json("ehr", name, places.run, known[2], "--show-ids", *options)
        assert by_id["patient"] == known[2]
        assert by_id | {"patient": "2"} == mnemon.json("ehr", name, places.run, 2)
    assert known[2] in page.read_text()
    assert int(known[2]) >= PATIENT


def test_a_moved_folder(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    moved = shutil.copytree(places.folder, tmp_path / "moved")
    here = mnemon.json("ehr", "evaluate", places.run)
    assert mnemon.json("ehr", "evaluate", places.run, "--folder", moved) == here


def test_a_run_goes_on(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    begun = ["ehr", "train", places.folder, "--model", "dmnc-late", *QUICK, "--out"]
    mnemon.json(*begun, tmp_path / "parts")
    resumed = mnemon.json(*begun, tmp_path / "parts", "--steps", 6, "--resume")
    whole = mnemon.json(*begun, tmp_path / "whole", "--steps", 6)
    assert resumed["metrics"] == whole["metrics"]
    again = mnemon(*begun, tmp_path / "whole")
    assert (again.code, again.out) == (2, "")
    assert "is not empty: resume the run in it, or choose another folder" in again.err


def test_some_of_the_views(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    run = tmp_path / "run"
    mnemon.json("ehr", "train", places.folder, "--model", "dcw-mann", "--views", "procedure", "--out", run, *QUICK)
    assert {event["view"] for event in mnemon.json("ehr", "explain", run, 0)["events"]} <= {"procedure"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "{none}"], "there is no ehr.json in {none}: write a folder that mnemon ehr prepare has made"),
        (["train", "{folder}", "--model", "dmnc"], "no model is called 'dmnc': did you mean"),
        (["train", "{folder}", "--model", "lstm"], "model 'lstm' does not read views of codes: write one of seq2seq"),
        (["train", "{folder}", "--views", "labs"], "no view in this folder is called 'labs'"),
        (["train", "{folder}", "--hidden", "0"], "hidden must be at least 1, got 0"),
        (["train", "{folder}", "--steps", "0"], "training setting 'steps' is 0: write a whole number of at least 1"),
        (["train", "{folder}", "--resume", "--out", "{none}"], "there is no run to resume in {none}"),
        (["train"], "FOLDER"),
        (["evaluate", "{none}"], "there is no run in {none}: write the folder that mnemon ehr train has made"),
        (["evaluate", "{folder}"], "there is no run in {folder}"),
        (["evaluate", "{run}", "--split", "tests"], "no split is called 'tests': did you mean 'test'"),
        (["evaluate", "{run}", "--folder", "{none}"], "there is no ehr.json in {none}"),
        (["recommend", "{run}", "x"], "'x' is no number of a patient: write one from 0 on, or --show-ids and an id"),
        (["recommend", "{run}", "1.0"], "'1.0' is no number of a patient"),
        (["recommend", "{run}", "9"], "there is no patient 9: write a number from 0 to 8"),
        (["recommend", "{run}", "9" * 30], "there is no patient 999"),
        (["recommend", "{run}", "0", "--top", "0"], "top must be at least 1"),
        (["recommend", "{none}", "0"], "there is no run in {none}"),
        (["recommend", "{run}", "12", "--show-ids"], "no patient of the prepared folder has this id"),
        (["recommend", "{run}"], "PATIENT"),
        (["explain", "{run}", "-1"], "-1"),
        (["explain", "{run}", "99"], "there is no patient 99"),
        (
            ["explain", "{run}", "0", "--html", "{none}/why.html"],
            "there is no folder {none}: make it, or write another",
        ),
        (["explain", "{run}", "0", "--top", "-3"], "top must be at least 1"),
    ],
)
def test_bad_input_is_one_line(
    mnemon: Shell, places: Places, tmp_path: Path, arguments: list[str], message: str
) -> None:
    names = {"none": tmp_path / "none", "folder": places.folder, "run": places.run}
    said = mnemon("ehr", *(argument.format(**names) for argument in arguments), "--json")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("mnemon: ")
    assert said.err.count("\n") == 1
    assert message.format(**names) in said.err
    assert not tells(said.err)
    assert list(tmp_path.iterdir()) == []


def test_ids_need_a_folder_that_keeps_them(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(places.folder, tmp_path / "moved"))
    (moved / "patients.json").unlink()
    said = mnemon("ehr", "recommend", places.run, PATIENT, "--show-ids", "--folder", moved)
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("patients.json: prepare the folder with --keep-ids, or leave out --show-ids\n")


def test_a_damaged_run_is_one_line(mnemon: Shell, places: Places, tmp_path: Path) -> None:
    run = Path(shutil.copytree(places.run, tmp_path / "run"))
    for path in (run / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    with pytest.warns(UserWarning, match=r"is not a whole safetensors file: .*; looking for an older one"):
        said = mnemon("ehr", "evaluate", run)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    (run / "run.json").write_text("{")
    said = mnemon("ehr", "evaluate", run)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
