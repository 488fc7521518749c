"""CMS's DE-SynPUF, synthetic claims of Medicare: inpatient claims, and beneficiary summaries if there are.

A claim is an admission; its second segment, where it has one, adds its codes. Diagnoses are in the order of their
columns, ICD9_DGNS_CD_1 first. Of the procedures only ICD9_PRCDR_CD_1 holds codes of procedures: the five columns after
it hold diagnoses, and are not read. The files have no names of codes, and inpatient claims no drugs.
"""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from mnemon.data.notes import Notes
from mnemon.ehr.assembly import assemble
from mnemon.ehr.records import VIEWS, Records
from mnemon.ehr.tables import Column, read_whole
from mnemon.errors import UserError

DIAGNOSES = tuple(f"ICD9_DGNS_CD_{number}" for number in range(1, 11))
PROCEDURE = "ICD9_PRCDR_CD_1"
CLAIMS = (
    Column(name="patient", header="DESYNPUF_ID"),
    Column(name="admission", header="CLM_ID"),
    Column(name="segment", header="SEGMENT", kind="whole number"),
    Column(name="start", header="CLM_ADMSN_DT", kind="time"),
    *(Column(name=name, header=name, needed=False) for name in DIAGNOSES),
    Column(name=PROCEDURE, header=PROCEDURE, needed=False),
)
BENEFICIARIES = (Column(name="patient", header="DESYNPUF_ID"),)


def recognise(folder: Path) -> bool:
    """Whether a folder looks like DE-SynPUF."""
    return bool(_files(folder, "inpatient_claims"))


def read(folder: Path, notes: Notes, views: Collection[str] = VIEWS) -> Records:
    """Read all samples that lie in the folder or in folders there."""
    claims = _read_all(_files(folder, "inpatient_claims"), CLAIMS, notes)
    summaries = _files(folder, "beneficiary_summary")
    if summaries:
        listed = _read_all(summaries, BENEFICIARIES, notes)["patient"].unique()
        unlisted = claims.filter(~pl.col("patient").is_in(listed.implode()))
        reason = "a claim of a patient without a beneficiary summary"
        notes.skip_in(reason, unlisted["file"].to_numpy(), unlisted["line"].to_numpy(), kept=True)
    codes = {"diagnosis": _codes(claims, DIAGNOSES), "procedure": _codes(claims, (PROCEDURE,))}
    codes["drug"] = codes["procedure"].clear()
    codes = {view: rows if view in views else rows.clear() for view, rows in codes.items()}
    return assemble("desynpuf", _admissions(claims), codes, {}, notes)


def _admissions(claims: pl.DataFrame) -> pl.DataFrame:
    """Claims without the rows that continue one; a claim that is listed twice stays twice, to be counted."""
    first = claims.sort("segment", "file", "line")
    continues = (first["segment"] > 1) & ~first["admission"].is_first_distinct()
    return first.filter(~continues).select("patient", "admission", "start", "file", "line").sort("file", "line")


def _codes(claims: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    """One row for each code; a segment of a claim that is listed twice counts once."""
    once = claims.unique(["admission", "segment"], keep="first", maintain_order=True)
    rows = once.select("admission", "segment", "file", "line", *columns).unpivot(
        columns, index=["admission", "segment", "file", "line"], variable_name="column", value_name="code"
    )
    place = pl.col("column").replace_strict(list(columns), list(range(len(columns))), return_dtype=pl.Int64)
    return (
        rows.drop_nulls("code")
        .with_columns(priority=pl.col("segment") * len(columns) + place)
        .select("admission", "priority", "code", "file", "line")
    )


def _files(folder: Path, part: str) -> list[Path]:
    """Files whose names have a part, in the folder or one below it."""
    found = [path for pattern in ("*.csv", "*.csv.gz", "*/*.csv", "*/*.csv.gz") for path in folder.glob(pattern)]
    return sorted(path for path in found if part in path.name.lower())


def _read_all(paths: list[Path], columns: tuple[Column, ...], notes: Notes) -> pl.DataFrame:
    if not paths:
        raise UserError("files *_Inpatient_Claims_*.csv are missing: put those of DE-SynPUF there, plain or as .gz")
    return pl.concat([read_whole(path, columns, notes) for path in paths])
