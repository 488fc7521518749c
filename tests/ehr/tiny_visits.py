"""A small hospital whose visits differ in all ways that matter, prepared for a task."""

from functools import partial
from pathlib import Path
from typing import Any

from mnemon.ehr.prepare import PrepareConfig, prepare
from mnemon.ehr.sources import read_source
from mnemon.models.config import ModelConfig
from mnemon.training.config import TrainConfig
from tests.ehr.tiny_records import Row, write_table

PATIENT = 987_654_000  # numbers of the source that no other number looks like
STAY = 555_432_000

small = partial(ModelConfig, hidden=4, slots=3, word=3, heads=1, embedding=3)


def quick(**changes: Any) -> TrainConfig:
    settings: dict[str, Any] = {"steps": 3, "batch_size": 4, "optimiser": "adam", "learning_rate": 1e-2}
    often: dict[str, Any] = {"log_every": 1, "eval_every": 2, "checkpoint_every": 2}
    return TrainConfig(**settings | often | changes)


def write_hospital(folder: Path, patients: int = 24) -> Path:
    """Patients with 2, 3 or 4 visits of 1 to 4 diagnoses, 0 to 2 procedures and 1 to 3 drugs.

    Some have a diagnosis that no other has, so that it is unknown unless the patient is one to train with.
    """
    tables: dict[str, list[Row]] = {"admissions": [], "diagnoses": [], "procedures": [], "drugs": []}
    for patient in range(patients):
        for visit in range(2 + patient % 3):
            stay = STAY + 10 * patient + visit
            day = f"21{visit:02}-03-05"
            tables["admissions"].append((PATIENT + patient, stay, f"{day} 11:00:00", f"{day} 12:00:00"))
            diagnoses = [f"D{(patient + place) % 5}" for place in range(1 + (patient + visit) % 3)]
            if patient % 2:
                diagnoses.append(f"R{patient}")
            procedures = [f"P{(visit + place) % 3}" for place in range((patient + 2 * visit) % 3)]
            drugs = [f"A{(patient + 2 * place) % 4}" for place in range(1 + visit % 3)]
            tables["diagnoses"] += [(stay, place, code) for place, code in enumerate(diagnoses)]
            tables["procedures"] += [(stay, place, code) for place, code in enumerate(procedures)]
            tables["drugs"] += [
                (stay, f"21{visit:02}-03-{6 + place:02}", code, code) for place, code in enumerate(drugs)
            ]
    write_table(folder / "ADMISSIONS.csv", "SUBJECT_ID,HADM_ID,ADMITTIME,DISCHTIME", tables["admissions"])
    write_table(folder / "DIAGNOSES_ICD.csv", "HADM_ID,SEQ_NUM,ICD9_CODE", tables["diagnoses"])
    write_table(folder / "PROCEDURES_ICD.csv", "HADM_ID,SEQ_NUM,ICD9_CODE", tables["procedures"])
    write_table(folder / "PRESCRIPTIONS.csv", "HADM_ID,STARTDATE,FORMULARY_DRUG_CD,DRUG", tables["drugs"])
    write_table(folder / "D_ICD_DIAGNOSES.csv", "ICD9_CODE,LONG_TITLE", [("D1", "<script>alert(1)</script>")])
    return folder


def prepare_hospital(folder: Path, task: str, *, patients: int = 24, **settings: Any) -> Path:
    """The prepared folder, inside this one."""
    source = write_hospital(folder / "source", patients)
    prepare(read_source(source), PrepareConfig(task=task, **settings), folder / task)
    return folder / task
