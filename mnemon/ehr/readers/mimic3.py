"""MIMIC-III: ADMISSIONS, DIAGNOSES_ICD, PROCEDURES_ICD, PRESCRIPTIONS, and the dictionaries of ICD-9 for names.

Diagnoses and procedures are ordered by SEQ_NUM, drugs by STARTDATE and then by their rows. A drug is what the
hospital's formulary calls it, FORMULARY_DRUG_CD, as in the thesis's examples (DOCU100L); ``ndc`` and ``name`` are the
other two columns that tell it.
"""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from mnemon.data.notes import Notes
from mnemon.ehr.assembly import assemble
from mnemon.ehr.records import VIEWS, Records
from mnemon.ehr.tables import Column, empty_table, find_table, need_table, read_table, read_whole

ADMISSIONS = (
    Column(name="patient", header="SUBJECT_ID"),
    Column(name="admission", header="HADM_ID"),
    Column(name="start", header="ADMITTIME", kind="time"),
    Column(name="end", header="DISCHTIME", kind="time", needed=False, optional=True),
)
CODES = (
    Column(name="admission", header="HADM_ID"),
    Column(name="priority", header="SEQ_NUM", kind="whole number"),
    Column(name="code", header="ICD9_CODE"),
)
TITLES = (
    Column(name="code", header="ICD9_CODE"),
    Column(name="title", header="LONG_TITLE", needed=False, optional=True),
    Column(name="short", header="SHORT_TITLE", needed=False, optional=True),
)
DRUG_CODES = {"formulary": "FORMULARY_DRUG_CD", "ndc": "NDC", "name": "DRUG"}
ABSENT = "0"  # how PRESCRIPTIONS writes that a drug has no NDC


def recognise(folder: Path) -> bool:
    """Whether a folder looks like MIMIC-III."""
    return find_table(folder, "ADMISSIONS") is not None and find_table(folder, "DIAGNOSES_ICD") is not None


def read(folder: Path, notes: Notes, views: Collection[str] = VIEWS, drug_code: str = "formulary") -> Records:
    """Read the tables of some views; those of procedures and drugs may be missing, the view is then empty."""
    admissions = read_whole(need_table(folder, "ADMISSIONS"), ADMISSIONS, notes)
    early = admissions.filter(pl.col("end") < pl.col("start"))
    notes.skip_in("DISCHTIME is before ADMITTIME", early["file"].to_numpy(), early["line"].to_numpy(), kept=True)
    events = {"diagnosis": read_whole(need_table(folder, "DIAGNOSES_ICD"), CODES, notes)}
    procedures = find_table(folder, "PROCEDURES_ICD") if "procedure" in views else None
    events["procedure"] = read_whole(procedures, CODES, notes) if procedures else empty_table(CODES)
    prescriptions = find_table(folder, "PRESCRIPTIONS") if "drug" in views else None
    events["drug"], drug_names = _drugs(prescriptions, notes, drug_code)
    names = {
        "diagnosis": _titles(folder, "D_ICD_DIAGNOSES", notes),
        "procedure": _titles(folder, "D_ICD_PROCEDURES", notes),
        "drug": drug_names,
    }
    return assemble("mimic3", admissions, events, names, notes)


def _drugs(path: Path | None, notes: Notes, drug_code: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Prescriptions, and the name that each code has first."""
    columns = (
        Column(name="admission", header="HADM_ID"),
        Column(name="time", header="STARTDATE", kind="time"),
        Column(name="code", header=DRUG_CODES[drug_code]),
        Column(name="name", header="DRUG", needed=False, optional=True),
    )
    parts, names = [empty_table(columns).drop("name")], dict[str, str]()
    for block in read_table(path, columns, notes) if path else ():
        frame = block
        if drug_code == "ndc":
            absent = block.filter(pl.col("code") == ABSENT)
            notes.skip("NDC is 0, which names no drug", path.name if path else "", absent["line"].to_numpy())
            frame = block.filter(pl.col("code") != ABSENT)
        told = frame.filter(pl.col("name").is_not_null()).unique("code", keep="first", maintain_order=True)
        names |= dict(told.select("code", "name").rows()) | names
        parts.append(frame.drop("name"))
    return pl.concat(parts), names


def _titles(folder: Path, table: str, notes: Notes) -> dict[str, str]:
    path = find_table(folder, table)
    if path is None:
        return {}
    titles = read_whole(path, TITLES, notes).with_columns(pl.coalesce("title", "short"))
    return dict(titles.filter(pl.col("title").is_not_null()).select("code", "title").rows())
