import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from mnemon.ehr.prepare import PrepareConfig, draw_split, prepare, views_of
from mnemon.ehr.prepared import DOCUMENT, IDENTITIES, SPLITS, TENSORS, Prepared, load_prepared
from mnemon.ehr.records import Records
from mnemon.ehr.sources import read_source
from mnemon.ehr.tasks import SEQUENCE_SPLIT, SET_SPLIT, TASKS
from mnemon.ehr.vocabulary import FIRST_CODE, UNKNOWN
from mnemon.errors import UserError
from mnemon.training.files import read_json, write_json
from tests.ehr.test_readers import codes, write_desynpuf
from tests.ehr.tiny_records import write_mimic3, write_table


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Records:
    return read_source(write_mimic3(tmp_path_factory.mktemp("mimic3"), patients=30))


def prepared_as(records: Records, folder: Path, **settings: Any) -> Prepared:
    prepare(records, PrepareConfig(**settings), folder)
    return load_prepared(folder)


def decoded(prepared: Prepared, view: str) -> list[list[str]]:
    vocabulary = prepared.vocabularies[view]
    visits = range(len(prepared.visit_patient))
    return [vocabulary.decode(prepared.views[view].of(visit).tolist()) for visit in visits]


def expected(records: Records, view: str, least: int) -> list[list[str]]:
    """By a loop: the codes of visits of patients that have enough."""
    patient = records.visit_patient.tolist()
    return [row for row, who in zip(codes(records, view), patient, strict=True) if patient.count(who) >= least]


@pytest.mark.parametrize(("task", "least"), [("procedures", 2), ("next-diagnoses", 2), ("procedures", 1)])
def test_codes_come_back(records: Records, tmp_path: Path, task: str, least: int) -> None:
    prepared = prepared_as(records, tmp_path / "out", task=task, min_visits=least)
    for view in views_of(task):
        known = set(prepared.vocabularies[view].codes)
        wanted = [[code if code in known else "<unknown>" for code in row] for row in expected(records, view, least)]
        assert decoded(prepared, view) == wanted
    assert prepared.vocabularies["diagnosis"].name(prepared.vocabularies["diagnosis"].token("D1")).startswith("Disease")


def test_vocabularies_are_of_the_training_patients(tmp_path: Path) -> None:
    folder = write_mimic3(tmp_path / "source", patients=30)
    config = PrepareConfig(task="procedures", min_visits=1)
    prepare(read_source(folder), config, tmp_path / "one")
    first = load_prepared(tmp_path / "one")
    tested = 7000 + int(torch.nonzero(first.patient_split == 2)[0])  # patients are sorted by their numbers
    path = folder / "DIAGNOSES_ICD.csv"
    path.write_text(path.read_text() + f"{1000 + 10 * (tested - 7000)},9,RARE\n")
    prepare(read_source(folder), config, tmp_path / "two")
    second = load_prepared(tmp_path / "two")
    assert "RARE" not in second.vocabularies["diagnosis"].codes
    assert int((second.views["diagnosis"].tokens == UNKNOWN).sum()) == 1
    assert second.report["kept"]["views"]["diagnosis"]["unknown"] == {"train": 0, "valid": 0, "test": 1}
    assert first.vocabularies == second.vocabularies


def test_the_first_drug_of_each_day(records: Records, tmp_path: Path) -> None:
    prepared = prepared_as(records, tmp_path / "out", task="drugs-daily", min_visits=1)
    # each day has a drug A and then a drug B, of the same number; the fifth comes before the sixth
    days = [[row[0], row[2]] for row in codes(records, "drug")]
    assert decoded(prepared, "drug") == days
    assert all(code.startswith("A") for row in days for code in row)


def test_the_set_of_the_top_drugs(records: Records, tmp_path: Path) -> None:
    prepared = prepared_as(records, tmp_path / "out", task="drugs-set", top_drugs=3)
    vocabulary = prepared.vocabularies["drug"]
    training = [
        code
        for row, who in zip(codes(records, "drug"), records.visit_patient.tolist(), strict=True)
        for code in row
        if who in set(np.flatnonzero(split_of_all(records)).tolist())
    ]
    ordered = sorted(set(training), key=lambda code: (-training.count(code), code))
    assert list(vocabulary.codes) == ordered[:3]
    kept = [row for row in decoded(prepared, "drug") if row]
    assert len(kept) == len(prepared.visit_patient)
    assert all(len(set(row)) == len(row) for row in kept)
    rows = codes(records, "drug")
    share = sum(code in vocabulary.codes for row in rows for code in row) / sum(map(len, rows))
    assert prepared.report["kept"]["views"]["drug"]["coverage"] == pytest.approx(share, abs=1e-4)
    assert prepared.labels == 3
    labels = prepared.label_rows(prepared.visits("test"))
    assert labels.sum(1).tolist() == [len(prepared.target(visit)) for visit in prepared.visits("test").tolist()]


def split_of_all(records: Records) -> np.ndarray:
    """Which patients train, where all are kept."""
    return np.asarray(draw_split(len(records.patients), SET_SPLIT, 0) == 0)


def test_repeated_drugs_are_one_of_a_set(tmp_path: Path) -> None:
    folder = write_mimic3(tmp_path / "source")
    path = folder / "PRESCRIPTIONS.csv"
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *rows, *rows]) + "\n")
    prepared = prepared_as(read_source(folder), tmp_path / "out", task="drugs-set")
    assert all(len(set(row)) == len(row) for row in decoded(prepared, "drug"))
    assert prepared.report["kept"]["views"]["drug"]["max_length"] == 4


def test_the_next_visit(records: Records, tmp_path: Path) -> None:
    prepared = prepared_as(records, tmp_path / "out", task="next-diagnoses")
    patient = prepared.visit_patient.tolist()
    found = [visit for split in SPLITS for visit in prepared.visits(split).tolist()]
    wanted = [visit for visit in range(len(patient) - 1) if patient[visit] == patient[visit + 1]]
    assert sorted(found) == wanted
    for visit in wanted:
        assert torch.equal(prepared.target(visit), prepared.views["diagnosis"].of(visit + 1))
        assert [patient[other] for other in prepared.history(visit)] == [patient[visit]] * len(prepared.history(visit))
        assert prepared.history(visit)[-1] == visit
        assert prepared.history(visit)[0] == patient.index(patient[visit])


@pytest.mark.parametrize("shares", [SEQUENCE_SPLIT, SET_SPLIT])
@pytest.mark.parametrize("patients", [3, 4, 10, 1000])
def test_splits(patients: int, shares: tuple[float, float, float]) -> None:
    split = draw_split(patients, shares, 0)
    counts = np.bincount(split, minlength=3)
    assert (counts > 0).all()
    if patients >= 10:
        assert counts / patients == pytest.approx(shares, abs=0.5 / patients + 0.07)
    assert (draw_split(patients, shares, 0) == split).all()
    if patients == 1000:
        assert (draw_split(patients, shares, 1) != split).any()


def test_same_seed_same_bytes_and_no_patient_is_told(tmp_path: Path) -> None:
    folder = write_mimic3(tmp_path / "source")
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        prepare(read_source(folder), PrepareConfig(task="procedures", seed=seed), tmp_path / name)
    for file in (DOCUMENT, TENSORS):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert (tmp_path / "one" / TENSORS).read_bytes() != (tmp_path / "three" / TENSORS).read_bytes()
    text = (tmp_path / "one" / DOCUMENT).read_text()
    assert not any(re.search(rf"\b{7000 + patient}\b", text) for patient in range(12))  # within a checksum: chance
    assert str(folder) not in text
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [DOCUMENT, TENSORS]
    prepare(read_source(folder), PrepareConfig(task="procedures", keep_ids=True), tmp_path / "named")
    told = json.loads((tmp_path / "named" / IDENTITIES).read_text())["patients"]
    assert told == sorted(str(7000 + patient) for patient in range(12) if patient % 3)


def test_the_report_against_a_loop(records: Records, tmp_path: Path) -> None:
    report = prepare(records, PrepareConfig(task="procedures"), tmp_path / "out")
    diagnoses = expected(records, "diagnosis", 2)
    kept = report["kept"]
    assert (kept["patients"], kept["admissions"]) == (20, 50)
    assert kept["visits_per_patient"] == {"mean": 2.5, "max": 3}
    facts = kept["views"]["diagnosis"]
    assert facts["unique_codes"] == len({code for row in diagnoses for code in row})
    assert facts["mean_length"] == pytest.approx(sum(map(len, diagnoses)) / 50)
    assert facts["max_length"] == 3
    assert sum(part["admissions"] for part in kept["splits"].values()) == 50
    assert report["left_out"] == {"visits of patients with fewer than 2 of use": 10}
    assert load_prepared(tmp_path / "out").report == report


def test_a_visit_without_an_input_or_a_target_is_left_out(tmp_path: Path) -> None:
    folder = write_mimic3(tmp_path / "source")
    write_table(folder / "PROCEDURES_ICD.csv", "HADM_ID,SEQ_NUM,ICD9_CODE", [(s, 1, "P") for s in (1000, 1010, 1020)])
    report = prepare(read_source(folder), PrepareConfig(task="procedures", min_visits=1), tmp_path / "out")
    assert report["kept"]["admissions"] == 3
    assert report["left_out"] == {"visits without procedure codes": 21}
    with pytest.raises(UserError, match="0 patients have 2 or more visits of use for this task: 3 or more are needed"):
        prepare(read_source(folder), PrepareConfig(task="procedures"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_view_that_a_task_needs_but_the_source_lacks(tmp_path: Path) -> None:
    records = read_source(write_desynpuf(tmp_path))
    with pytest.raises(UserError, match="this desynpuf folder has no drug codes, which the task needs: take another"):
        prepare(records, PrepareConfig(task="drugs-set"), tmp_path / "out")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"task": "drug-set"}, "no task of health records is called 'drug-set': did you mean 'drugs-set'"),
        ({"task": "procedures", "min_visits": 0}, "--min-visits is 0: write a whole number of at least 1"),
        ({"task": "next-diagnoses", "min_visits": 1}, "a patient with one visit has no next one"),
        ({"task": "drugs-set", "top_drugs": 0}, "--top-drugs is 0"),
    ],
)
def test_bad_settings(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        PrepareConfig(**settings)


def test_every_task_prepares(records: Records, tmp_path: Path) -> None:
    for name, task in TASKS.items():
        prepared = prepared_as(records, tmp_path / name, task=name)
        assert prepared.task is task
        assert all(len(prepared.visits(split)) for split in SPLITS)
        visit = int(prepared.visits("train")[0])
        assert prepared.target(visit).min() >= FIRST_CODE


def damage(folder: Path, name: str, tensor: torch.Tensor | None) -> None:
    tensors = load_file(folder / TENSORS)
    if tensor is None:
        del tensors[name]
    else:
        tensors[name] = tensor
    save_file(tensors, folder / TENSORS)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("diagnosis.tokens", lambda t: t + 1000, "diagnosis.tokens are not all in a vocabulary of 9"),
        ("diagnosis.tokens", lambda t: t * 0, "diagnosis.tokens are not all in a vocabulary of 9"),
        ("diagnosis.tokens", lambda t: t.double(), "diagnosis.tokens is not a row of int32"),
        ("diagnosis.tokens", lambda t: t[:-1], "diagnosis.offsets do not fit its 59 tokens and 20 visits"),
        ("diagnosis.offsets", lambda t: t.flip(0), "diagnosis.offsets do not fit"),
        ("diagnosis.offsets", lambda t: t[:-1], "diagnosis.offsets do not fit"),
        ("diagnosis.offsets", lambda t: t.float(), "diagnosis.offsets is not a row of whole numbers"),
        ("visit_patient", lambda t: t.flip(0), "its visits are not ordered by patient, or a patient has none"),
        ("visit_patient", lambda t: t * 2, "its visits are not ordered by patient, or a patient has none"),
        ("patient_split", lambda t: t + 1, "a patient is in none of the splits"),
        ("procedure.tokens", lambda _: None, "lacks 'procedure.tokens' in ehr.json or visits.safetensors"),
    ],
)
def test_damaged_tensors(tmp_path: Path, name: str, change: Any, problem: str) -> None:
    folder = tmp_path / "out"
    prepare(read_source(write_mimic3(tmp_path / "source")), PrepareConfig(task="procedures"), folder)
    damage(folder, name, change(load_file(folder / TENSORS)[name]))
    with pytest.raises(UserError) as caught:
        load_prepared(folder)
    assert problem in str(caught.value)
    assert str(caught.value).endswith("prepare it again")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "other"}, "is not of the format mnemon-ehr"),
        ({"version": 2}, "has version 2, this program reads 1: prepare it again"),
        ({"task": "triage"}, "is for the task 'triage', which is not known"),
        ({"vocabularies": {}}, "lacks 'diagnosis' in"),
        ({"vocabularies": {"diagnosis": 3}}, "lacks"),
        ({"seed": "x"}, "is damaged: "),
    ],
)
def test_damaged_documents(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    folder = tmp_path / "out"
    prepare(read_source(write_mimic3(tmp_path / "source")), PrepareConfig(task="procedures"), folder)
    write_json(folder / DOCUMENT, read_json(folder / DOCUMENT) | change)
    with pytest.raises(UserError, match=problem):
        load_prepared(folder)


def test_missing_and_torn_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no ehr\.json in .*: write a folder that mnemon ehr prepare"):
        load_prepared(tmp_path)
    folder = tmp_path / "out"
    prepare(read_source(write_mimic3(tmp_path / "source")), PrepareConfig(task="procedures"), folder)
    whole = (folder / TENSORS).read_bytes()
    for torn in (whole[: len(whole) // 2], b""):
        (folder / TENSORS).write_bytes(torn)
        with pytest.raises(UserError, match="is not a whole safetensors file: prepare the folder again"):
            load_prepared(folder)
    (folder / TENSORS).unlink()
    with pytest.raises(UserError, match="is not a whole safetensors file"):
        load_prepared(folder)
    (folder / DOCUMENT).write_text("{")
    with pytest.raises(UserError, match="is not a JSON document"):
        load_prepared(folder)
