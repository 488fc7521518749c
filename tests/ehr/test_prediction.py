"""Batches of prepared visits, against slow loops over the folder."""

from typing import Any

import pytest
import torch

from mnemon.ehr.prediction import END, UNKNOWN, Prediction, ProgressionPrediction, prediction, predictions
from mnemon.ehr.prepared import SPLITS, Prepared, load_prepared
from mnemon.ehr.vocabulary import END as END_TOKEN
from mnemon.ehr.vocabulary import FIRST_CODE, PAD
from mnemon.ehr.vocabulary import UNKNOWN as UNKNOWN_TOKEN
from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.tasks.base import Batch, FiniteTask, PooledTask
from mnemon.training import evaluation
from mnemon.training.batches import answer
from tests.ehr.tiny_visits import prepare_hospital, small

TASKS = ("procedures", "drugs-daily", "drugs-set", "next-diagnoses")
SEQUENCES = ("procedures", "drugs-daily")
every_split = pytest.mark.parametrize("split", SPLITS)
every_task = pytest.mark.parametrize("name", TASKS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prepared]:
    folder = tmp_path_factory.mktemp("hospital")
    return {task: load_prepared(prepare_hospital(folder / task, task)) for task in TASKS}


def tokens(prepared: Prepared, view: str, visit: int) -> list[int]:
    codes = prepared.views[view]
    return [int(codes.tokens[place]) for place in range(int(codes.offsets[visit]), int(codes.offsets[visit + 1]))]


def patients_of(prepared: Prepared, split: str) -> list[int]:
    return [number for number, part in enumerate(prepared.patient_split.tolist()) if SPLITS[part] == split]


def visits_of(prepared: Prepared, patient: int) -> list[int]:
    return [visit for visit, who in enumerate(prepared.visit_patient.tolist()) if who == patient]


def shown(batch: Batch, place: int, row: int) -> list[list[int]]:
    """The tokens of a row by view; what lies beyond its length is padding."""
    assert batch.visits is not None
    visit = batch.visits[place]
    found = []
    for view, lengths in zip(visit.views, visit.lengths, strict=True):
        length = int(lengths[row])
        assert view.dtype == torch.int64
        assert len(view) == max(1, int(lengths.max()))
        assert (view[length:, row] == PAD).all()
        found.append(view[:length, row].tolist())
    return found


def test_codes_are_uneven_and_some_are_unknown(folders: dict[str, Prepared]) -> None:
    """What the other tests rest on."""
    prepared = folders["next-diagnoses"]
    counts = torch.bincount(prepared.visit_patient).tolist()
    assert set(counts) == {2, 3, 4}
    assert {len(tokens(prepared, "procedure", visit)) for visit in range(sum(counts))} == {0, 1, 2}
    unknown = [visit for visit in range(sum(counts)) if UNKNOWN_TOKEN in tokens(prepared, "diagnosis", visit)]
    assert {SPLITS[int(prepared.patient_split[prepared.visit_patient[visit]])] for visit in unknown} == {
        "valid",
        "test",
    }


@every_split
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences(folders: dict[str, Prepared], name: str, split: str) -> None:
    prepared = folders[name]
    task = prediction(prepared, split)
    visits = [visit for patient in patients_of(prepared, split) for visit in visits_of(prepared, patient)]
    assert task.rows.tolist() == visits
    batch = task.batch_of(task.rows)
    answers = [[token - END_TOKEN for token in tokens(prepared, task.prepared.task.target, visit)] for visit in visits]
    longest = max(len(answer) for answer in answers) + 1
    assert batch.inputs.shape == (longest, len(visits), 0)
    assert (batch.targets.sum(-1) == 1).all()
    for row, (visit, right) in enumerate(zip(visits, answers, strict=True)):
        assert shown(batch, 0, row) == [tokens(prepared, view, visit) for view in task.inputs]
        padding = [END] * (longest - len(right))
        assert batch.targets[:, row].argmax(-1).tolist() == right + padding
        assert batch.mask[:, row].tolist() == [1.0] * (len(right) + 1) + [0.0] * (len(padding) - 1)
    assert task.output_size == len(prepared.vocabularies[prepared.task.target]) - END_TOKEN
    assert UNKNOWN_TOKEN - END_TOKEN == UNKNOWN


@every_split
def test_sets(folders: dict[str, Prepared], split: str) -> None:
    prepared = folders["drugs-set"]
    task = prediction(prepared, split)
    batch = task.batch_of(task.rows)
    assert batch.targets.shape == (1, len(task.rows), task.output_size)
    assert (batch.mask == 1).all()
    for row, visit in enumerate(task.rows.tolist()):
        assert shown(batch, 0, row) == [tokens(prepared, view, visit) for view in ("diagnosis", "procedure")]
        labels = {token - FIRST_CODE for token in tokens(prepared, "drug", visit)}
        assert set(batch.targets[0, row].nonzero().flatten().tolist()) == labels


@every_split
def test_progressions(folders: dict[str, Prepared], split: str) -> None:
    prepared = folders["next-diagnoses"]
    task = prediction(prepared, split)
    assert isinstance(task, ProgressionPrediction)
    patients = patients_of(prepared, split)
    assert task.rows.tolist() == patients
    batch = task.batch_of(task.rows)
    assert batch.visits is not None
    most = max(len(visits_of(prepared, patient)) for patient in patients) - 1
    assert len(batch.visits) == most == len(batch.targets)
    for row, patient in enumerate(patients):
        *before, last = visits_of(prepared, patient)
        for place in range(most):
            there = place < len(before)
            assert batch.mask[place, row] == float(there)
            labels = batch.targets[place, row].nonzero().flatten().tolist()
            if not there:
                assert shown(batch, place, row) == [[], []]
                assert labels == []
                continue
            assert shown(batch, place, row) == [tokens(prepared, view, before[place]) for view in task.inputs]
            following = tokens(prepared, "diagnosis", [*before, last][place + 1])
            known = {token - FIRST_CODE for token in following if token != UNKNOWN_TOKEN}
            assert set(labels) == known


@every_task
def test_no_patient_is_in_two_splits(folders: dict[str, Prepared], name: str) -> None:
    prepared = folders[name]
    found: list[set[int]] = []
    for split in SPLITS:
        rows = prediction(prepared, split).rows
        found.append(set((rows if name == "next-diagnoses" else prepared.visit_patient[rows]).tolist()))
    assert sum(map(len, found)) == len(set.union(*found)) == len(prepared.patient_split)


def described(batch: Batch, row: int) -> Any:
    """A row without what it was padded with."""
    assert batch.visits is not None
    asked = batch.mask[:, row] > 0
    views = [shown(batch, place, row) for place in range(len(batch.visits))]
    return [view for view in views if any(view)], batch.targets[asked, row].tolist()


@every_task
def test_every_example_once(folders: dict[str, Prepared], name: str) -> None:
    task = prediction(folders[name], "train")
    assert isinstance(task, FiniteTask)
    assert isinstance(task, PooledTask)
    batches = list(task.examples(5))
    found = [described(batch, row) for batch in batches for row in range(batch.mask.shape[1])]
    alone = [described(task.batch_of(task.rows[row : row + 1]), 0) for row in range(len(task.rows))]
    assert found == alone
    drawn = task.sample(7, torch.Generator().manual_seed(0))
    assert all(described(drawn, row) in alone for row in range(7))


@every_task
@pytest.mark.parametrize("model_name", ["dmnc-late", "seq2seq-attention"])
def test_measures_do_not_depend_on_the_batches(
    folders: dict[str, Prepared], name: str, model_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = prediction(folders[name], "test")
    torch.manual_seed(0)
    model = build_model(small(name=model_name), task.input_size, task.output_size)
    whole = task.batch_of(task.rows)
    with torch.no_grad():
        wanted = task.metrics(answer(model, whole), whole)
    for size in (3, 64):
        monkeypatch.setattr(evaluation, "LARGEST_BATCH", size)
        found = evaluation.evaluate(model, task, name="test", sequences=1, seed=0)
        assert found.metrics == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_unknown_code_is_one_that_was_missed(folders: dict[str, Prepared], name: str) -> None:
    task = prediction(folders[name], "test")
    batch = task.batch_of(task.rows[:2])
    right = batch.targets * 9
    assert task.metrics(right, batch) == {"precision": 1.0, "jaccard": 1.0, "levenshtein": 0.0}
    guess = torch.zeros_like(right)
    guess[0, :, UNKNOWN] = 9
    guess[1:, :, END] = 9
    unknown = batch._replace(targets=torch.nn.functional.one_hot(guess.argmax(-1), task.output_size).float())
    assert task.metrics(guess, unknown) == {"precision": 0.0, "jaccard": 0.0, "levenshtein": 1.0}


@every_task
def test_the_right_answer_scores_best(folders: dict[str, Prepared], name: str) -> None:
    task = prediction(folders[name], "train")
    batch = task.batch_of(task.rows)
    metrics = task.metrics((batch.targets - 0.5) * 20, batch)
    assert all(metrics[key] == 1 for key in metrics if key.startswith(("auc", "f1", "precision", "jaccard", "p@1")))
    assert float(task.loss((batch.targets - 0.5) * 20, batch)) < 0.01


@every_task
def test_rendering(folders: dict[str, Prepared], name: str) -> None:
    prepared = folders[name]
    task = prediction(prepared, "train")
    batch = task.batch_of(task.rows[:3])
    lines = task.render(batch, 1, (batch.targets - 0.5) * 20).splitlines()
    assert [line.split()[0] for line in lines] == [*task.inputs, "target", "answer"]
    first = int(task.rows[1]) if name != "next-diagnoses" else visits_of(prepared, int(task.rows[1]))[0]
    assert lines[0].split()[1:] == prepared.vocabularies["diagnosis"].decode(tokens(prepared, "diagnosis", first))
    assert lines[-1].split()[1:] == lines[-2].split()[1:] != []


def test_some_of_the_views(folders: dict[str, Prepared]) -> None:
    splits = predictions(folders["drugs-set"], ["procedure"])
    assert isinstance(splits.train, Prediction)
    assert splits.train.input_size.views == (len(folders["drugs-set"].vocabularies["procedure"]),)
    batch = splits.train.sample(3, torch.Generator().manual_seed(0))
    assert batch.visits is not None
    assert len(batch.visits[0].views) == 1


def test_mistakes_are_named(folders: dict[str, Prepared]) -> None:
    with pytest.raises(UserError, match="no split is called 'tests': did you mean 'test'"):
        prediction(folders["drugs-set"], "tests")
    with pytest.raises(UserError, match="no view in this folder is called 'labs'"):
        prediction(folders["drugs-set"], "test", ["labs"])
