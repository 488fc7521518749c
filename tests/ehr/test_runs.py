"""Training on prepared folders: a few steps of each model on each task, loading, resuming, refusing."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from mnemon.ehr.prediction import prediction
from mnemon.ehr.prepared import load_prepared
from mnemon.ehr.runs import SIZES, load_run, sizes_of, train_on
from mnemon.errors import UserError
from mnemon.training.batches import answer
from mnemon.training.evaluation import evaluate
from mnemon.training.files import read_json, write_json
from tests.ehr.tiny_visits import prepare_hospital, quick, small
from tests.training.tiny_training import run_tiny, weights_and_records

TASKS = ("procedures", "drugs-set", "next-diagnoses")
MODELS = ("dmnc-early", "dmnc-late", "dcw-mann", "dnc-single", "seq2seq-attention")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("hospital")
    return {task: prepare_hospital(folder / task, task, patients=9) for task in TASKS}


@pytest.fixture(scope="module")
def trained(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tests copy or leave as it is."""
    out = tmp_path_factory.mktemp("runs") / "run"
    train_on(folders["drugs-set"], out, small(name="dmnc-late"), quick())
    return out


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("model", MODELS)
def test_a_loaded_run_answers_as_the_trained_one(
    folders: dict[str, Path], tmp_path: Path, task: str, model: str
) -> None:
    inputs = ("diagnosis",) if model == "dcw-mann" else None
    result = train_on(folders[task], tmp_path / "run", small(name=model), quick(), inputs=inputs)
    run = load_run(tmp_path / "run")
    assert (run.step, result.steps) == (3, 3)
    assert run.inputs == (inputs or run.prepared.task.inputs)
    assert not run.model.training
    for split in ("valid", "test"):
        _, metrics = evaluate(run.model, run.on(split), name=split, sequences=1, seed=0)
        assert metrics == result.metrics[split]
    batch = run.on("train").batch_of(run.on("train").rows[:4])
    again = load_run(tmp_path / "run")
    with torch.no_grad():
        assert torch.equal(answer(run.model, batch), answer(again.model, batch))


def test_a_resumed_run_ends_as_one_that_ran_through(folders: dict[str, Path], tmp_path: Path) -> None:
    def run(out: str, steps: int, resume: bool = False) -> None:
        train_on(folders["drugs-set"], tmp_path / out, small(name="dmnc-late"), quick(steps=steps), resume=resume)

    run("whole", 5)
    run("parts", 2)
    run("parts", 5, resume=True)
    assert weights_and_records(tmp_path / "parts") == weights_and_records(tmp_path / "whole")


def test_the_patient_says_in_which_split(folders: dict[str, Path], trained: Path) -> None:
    run = load_run(trained, folders["drugs-set"])
    for patient, part in enumerate(run.prepared.patient_split.tolist()):
        assert run.task_of(patient).split == ("train", "valid", "test")[part]


def test_a_moved_folder_is_found_where_it_is_said_to_be(
    folders: dict[str, Path], trained: Path, tmp_path: Path
) -> None:
    moved = Path(shutil.copytree(folders["drugs-set"], tmp_path / "moved"))
    assert load_run(trained, moved).prepared.task_name == "drugs-set"


def other_codes(folder: Path, tmp_path: Path) -> Path:
    """The same visits, with two codes that have changed places."""
    changed = Path(shutil.copytree(folder, tmp_path / "changed"))
    document = read_json(changed / "ehr.json")
    codes = document["vocabularies"]["diagnosis"]["codes"]
    codes[0], codes[1] = codes[1], codes[0]
    write_json(changed / "ehr.json", document)
    return changed


def test_other_codes_are_refused(folders: dict[str, Path], trained: Path, tmp_path: Path) -> None:
    changed = other_codes(folders["drugs-set"], tmp_path)
    with pytest.raises(UserError, match=r"the visits have other codes than those that .* was trained with"):
        load_run(trained, changed)
    with pytest.raises(UserError, match=r"the visits have other codes than those that .* was trained with"):
        load_run(trained, folders["next-diagnoses"])


class Killed(Exception):
    """Before the run's last words."""


def kill(*_: Any, **__: Any) -> None:
    raise Killed


def test_other_codes_are_refused_of_a_run_that_was_killed_too(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(folders["drugs-set"], tmp_path / "own"))
    monkeypatch.setattr("mnemon.training.loop.write_summary", kill)
    with pytest.raises(Killed):
        train_on(folder, tmp_path / "run", small(name="dmnc-late"), quick())
    assert load_run(tmp_path / "run").step == 3
    changed = other_codes(folder, tmp_path)
    with pytest.raises(UserError, match="other codes"):
        load_run(tmp_path / "run", changed)
    shutil.rmtree(folder)
    changed.rename(folder)  # prepared again in its place
    with pytest.raises(UserError, match=r"has run\.codes .*, not .*: give the same value to resume"):
        train_on(folder, tmp_path / "run", small(name="dmnc-late"), quick(), resume=True)


def test_what_is_no_run_is_refused_in_one_line(folders: dict[str, Path], trained: Path, tmp_path: Path) -> None:
    def refusal(run: Path, folder: Path | None = None) -> str:
        with pytest.raises(UserError) as caught:
            load_run(run, folder)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    nowhere = tmp_path / "nowhere"
    assert refusal(nowhere) == f"there is no run in {nowhere}: write the folder that mnemon ehr train has made"
    run_tiny(tmp_path / "delay")
    assert "was not trained on health records: write one of mnemon ehr train" in refusal(tmp_path / "delay")
    assert "there is no run in" in refusal(folders["drugs-set"])
    assert "there is no ehr.json in" in refusal(trained, tmp_path)
    early = Path(shutil.copytree(trained, tmp_path / "early"))
    shutil.rmtree(early / "checkpoints")
    assert refusal(early) == f"the run in {early} has no checkpoint yet: let it train for longer"
    (early / "run.json").write_text("{}")
    assert refusal(early) == f"{early / 'run.json'} does not describe a mnemon run"


def test_sizes_are_those_of_the_thesis(folders: dict[str, Path]) -> None:
    prepared = {task: load_prepared(folder) for task, folder in folders.items()}
    assert sizes_of(prepared["procedures"], "dcw-mann") == SIZES["sequence"]
    assert sizes_of(prepared["drugs-set"], "dmnc-early") == SIZES["set"]
    assert sizes_of(prepared["next-diagnoses"], "dmnc-early") == SIZES["next"]
    for one_memory in ("dnc-single", "dnc-write-protected", "dc-mann", "dcw-mann"):
        assert sizes_of(prepared["drugs-set"], one_memory).slots == 32
    assert sizes_of(prepared["procedures"], "dnc-single").slots == 128
    with pytest.raises(UserError, match="model 'ntm' does not read views of codes: write one of seq2seq, "):
        sizes_of(prepared["drugs-set"], "ntm")


def test_a_run_names_no_patient(trained: Path) -> None:
    for path in trained.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(number in data for number in (b"987654", b"555432")), path


def test_the_test_split_is_not_trained_on(folders: dict[str, Path]) -> None:
    prepared = load_prepared(folders["drugs-set"])
    train = prediction(prepared, "train")
    drawn = {tuple(map(tuple, _codes(train.sample(1, torch.Generator().manual_seed(seed))))) for seed in range(60)}
    own = {tuple(map(tuple, _codes(train.batch_of(train.rows[row : row + 1])))) for row in range(len(train.rows))}
    assert drawn <= own


def _codes(batch: Any) -> list[list[int]]:
    return [view[: int(length[0]), 0].tolist() for view, length in zip(*batch.visits[0], strict=True)]
