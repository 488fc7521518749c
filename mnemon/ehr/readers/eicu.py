"""eICU: patient, diagnosis, treatment and medication. A stay in a unit is an admission, its treatments are procedures.

Diagnoses are ordered by their priority (primary, major, other) and then by when they were entered, treatments and drugs
by time. Rows of a diagnosis or a treatment repeat while it lasts: the first of a stay is kept. Cancelled orders of
drugs are left out. A drug is its HICL number, the number of its ingredients, or its name where it has none.

The source tells times in minutes from the start of a stay, and of the stay itself the year alone: stays of a patient
are put in the order of year, age, hospital stay and visit to a unit, and begin at midnights that are made up, so that a
day of a drug is a day of the stay. Two hospital stays in one year at one age may stand in the wrong order.
"""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from mnemon.data.notes import Notes
from mnemon.ehr.assembly import assemble, skip_rows
from mnemon.ehr.records import VIEWS, Records
from mnemon.ehr.tables import Column, empty_table, find_table, need_table, read_whole

STAYS = (
    Column(name="patient", header="uniquepid"),
    Column(name="admission", header="patientunitstayid"),
    Column(name="year", header="hospitaldischargeyear", kind="whole number"),
    Column(name="age", header="age", needed=False, optional=True),
    Column(name="hospital_stay", header="patienthealthsystemstayid", kind="whole number"),
    Column(name="number", header="unitvisitnumber", kind="whole number"),
)
DIAGNOSES = (
    Column(name="admission", header="patientunitstayid"),
    Column(name="minutes", header="diagnosisoffset", kind="whole number"),
    Column(name="code", header="diagnosisstring"),
    Column(name="urgency", header="diagnosispriority", needed=False, optional=True),
)
TREATMENTS = (
    Column(name="admission", header="patientunitstayid"),
    Column(name="minutes", header="treatmentoffset", kind="whole number"),
    Column(name="code", header="treatmentstring"),
)
MEDICATIONS = (
    Column(name="admission", header="patientunitstayid"),
    Column(name="minutes", header="drugstartoffset", kind="whole number"),
    Column(name="name", header="drugname", needed=False),
    Column(name="ingredients", header="drughiclseqno", kind="whole number", needed=False, optional=True),
    Column(name="cancelled", header="drugordercancelled", needed=False, optional=True),
)
URGENCY = {"primary": 0, "major": 1, "other": 2}
BETWEEN_STAYS = 400  # days, so that no drug of a stay is given after the next began: offsets reach a year


def recognise(folder: Path) -> bool:
    """Whether a folder looks like eICU."""
    return find_table(folder, "patient") is not None and find_table(folder, "diagnosis") is not None


def read(folder: Path, notes: Notes, views: Collection[str] = VIEWS) -> Records:
    """Read the tables of some views."""

    def table(view: str, name: str, columns: tuple[Column, ...]) -> pl.DataFrame:
        return read_whole(need_table(folder, name), columns, notes) if view in views else empty_table(columns)

    stays = _stays(read_whole(need_table(folder, "patient"), STAYS, notes))
    diagnoses = table("diagnosis", "diagnosis", DIAGNOSES)
    urgency = pl.col("urgency").str.to_lowercase().replace_strict(URGENCY, default=len(URGENCY))
    treatments = table("procedure", "treatment", TREATMENTS)
    drugs, drug_names = _drugs(table("drug", "medication", MEDICATIONS), notes)
    events = {
        "diagnosis": _first(diagnoses.with_columns(priority=urgency), "diagnosis", notes),
        "procedure": _first(treatments, "treatment", notes),
        "drug": drugs,
    }
    starts = stays.select("admission", "start").unique("admission", keep="first", maintain_order=True)
    timed = {view: _timed(rows, starts) for view, rows in events.items()}
    names = {
        "diagnosis": _last_parts(timed["diagnosis"]),
        "procedure": _last_parts(timed["procedure"]),
        "drug": drug_names,
    }
    return assemble("eicu", stays, timed, names, notes)


def _stays(stays: pl.DataFrame) -> pl.DataFrame:
    """Stays with a made-up start: so many days after the first moment of 1970 as tell their place."""
    age = pl.col("age").str.extract(r"(\d+)").cast(pl.Int64)
    ordered = stays.with_columns(age).sort("patient", "year", "age", "hospital_stay", "number", "line", nulls_last=True)
    place = pl.int_range(pl.len()).over("patient")
    start = pl.datetime(1970, 1, 1, time_unit="us") + pl.duration(days=place * BETWEEN_STAYS)
    return ordered.with_columns(start=start).select("patient", "admission", "start", "file", "line")


def _drugs(orders: pl.DataFrame, notes: Notes) -> tuple[pl.DataFrame, dict[str, str]]:
    """Orders that were not cancelled, and a name for each number of ingredients: the most frequent."""
    by_number = pl.when(pl.col("ingredients") > 0).then(pl.format("HICL {}", "ingredients"))
    named = orders.with_columns(code=pl.coalesce(by_number, pl.col("name").str.to_uppercase()))
    cancelled = (named["cancelled"].str.to_lowercase() == "yes").fill_null(value=False)
    skip_rows("a cancelled order of a drug", named, cancelled, notes)
    nameless = named["code"].is_null() & ~cancelled
    skip_rows("neither drughiclseqno nor drugname", named, nameless, notes)
    kept = named.filter(~cancelled & ~nameless)
    counted = kept.drop_nulls("name").group_by("code", "name").len().sort("len", "name", descending=[True, False])
    names = dict(counted.unique("code", keep="first", maintain_order=True).select("code", "name").rows())
    return kept.select("admission", "minutes", "code", "file", "line"), names


def _first(rows: pl.DataFrame, what: str, notes: Notes) -> pl.DataFrame:
    """The first row of each code of a stay, in the order of priority and time."""
    keys = [key for key in ("priority", "minutes") if key in rows.columns]
    ordered = rows.sort(*keys, "line")
    again = ~ordered.select(pl.struct("admission", "code").is_first_distinct()).to_series()
    skip_rows(f"a {what} that repeats in its stay", ordered, again, notes)
    return ordered.filter(~again)


def _timed(rows: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """Minutes from the start of a stay as moments; without one, where the stay is unknown."""
    placed = rows.join(starts, on="admission", how="left", maintain_order="left")
    return placed.with_columns(time=pl.col("start") + pl.duration(minutes="minutes")).drop("start", "minutes")


def _last_parts(rows: pl.DataFrame) -> dict[str, str]:
    """Codes are paths, ``cardiovascular|arrhythmias|atrial fibrillation``; their end is a short name."""
    codes: list[str] = rows["code"].unique().to_list()
    return {code: code.rpartition("|")[2] for code in codes}
