"""MEDS, the Medical Event Data Standard: shards of events in parquet, and what their codes mean.

``data/**/*.parquet`` has a row for each event, ``subject_id``, ``time`` and ``code``; ``metadata/codes.parquet`` has
``code`` and ``description``. The standard knows no visits. They are taken from a column that many writers add
(``hadm_id``, ``visit_id``, …); without one, an event with a code of an admission begins a visit, which lasts until the
discharge, or until the next admission where there is none.

The view of an event is told by how its code begins. Diagnoses and procedures are in the order of ``seq_num``, where
there is such a column, and of time.
"""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from mnemon.data.notes import Notes
from mnemon.ehr.assembly import assemble, skip_rows
from mnemon.ehr.records import VIEWS, Records
from mnemon.errors import UserError

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)  # the second: of a damaged page
VISIT_COLUMNS = ("hadm_id", "visit_id", "encounter_id", "admission_id", "visit_occurrence_id")
ADMISSION, DISCHARGE = "HOSPITAL_ADMISSION", "HOSPITAL_DISCHARGE"
OWN_PREFIX = {"diagnosis": "DIAGNOSIS//", "procedure": "PROCEDURE//", "drug": "MEDICATION//"}  # not part of the code
PREFIXES = {
    "diagnosis": ("DIAGNOSIS//", "ICD9CM/", "ICD10CM/"),
    "procedure": ("PROCEDURE//", "ICD9Proc/", "ICD9PCS/", "ICD10PCS/", "CPT4/", "HCPCS/"),
    "drug": ("MEDICATION//", "DRUG//", "RxNorm/", "NDC/", "ATC/"),
}
ENDINGS = ("MEDICATION//STOP", "DRUG//STOP", "PROCEDURE//END")  # what began is already told


def recognise(folder: Path) -> bool:
    """Whether a folder looks like MEDS."""
    return bool(_shards(folder))


def read(folder: Path, notes: Notes, views: Collection[str] = VIEWS) -> Records:
    """Read the shards and the names of codes."""
    shards = _shards(folder)
    if not shards:
        raise UserError(f"{folder / 'data'}/*.parquet is missing: put the shards of MEDS there")
    events = pl.concat([_events(path, folder, notes) for path in shards])
    told = events.filter(pl.col("visit").is_not_null())
    visits = _told_visits(told) if not told.is_empty() else _found_visits(events)
    if visits.is_empty():
        wanted = f"a column {' or '.join(VISIT_COLUMNS[:2])}, or codes {ADMISSION}"
        raise UserError(f"{folder} tells no visits: its events need {wanted}")
    coded = events.filter(pl.col("view").is_not_null())
    placed = coded if not told.is_empty() else _placed(coded, visits, events)
    outside = placed["visit"].is_null()
    skip_rows("an event outside any admission", placed, outside, notes)
    inside = placed.filter(~outside & placed["view"].is_in(list(views)))
    tables = {view: _table(inside, view) for view in PREFIXES}
    return assemble("meds", visits.with_columns(_admission()), tables, _names(folder), notes)


def _shards(folder: Path) -> list[Path]:
    return sorted((folder / "data").rglob("*.parquet"))


def _events(path: Path, folder: Path, notes: Notes) -> pl.DataFrame:
    """The events of a shard that are of use: codes of a view, admissions and discharges."""
    scanned = pl.scan_parquet(path)
    try:
        types = scanned.collect_schema()
        missing = [name for name in ("subject_id", "time", "code") if name not in types]
        if missing:
            raise UserError(f"{path} has no column {missing[0]}: it is no shard of MEDS")
        visit = next((pl.col(name) for name in VISIT_COLUMNS if name in types), pl.lit(None))
        priority = pl.col("seq_num") if "seq_num" in types else pl.lit(None)
        name = path.relative_to(folder).as_posix()
        code = pl.col("code").cast(pl.String)
        rows = scanned.select(
            patient=pl.col("subject_id").cast(pl.Int64),
            time=pl.col("time").cast(pl.Datetime("us")),
            code=code,
            visit=visit.cast(pl.String),
            priority=priority.cast(pl.Int64),
            view=_view(code),
            file=pl.lit(notes.number_of(name), pl.UInt16),
            line=pl.int_range(1, pl.len() + 1, dtype=pl.UInt32),
        )
        wanted = pl.col("view").is_not_null() | pl.col("code").str.starts_with(ADMISSION)
        wanted |= pl.col("code").str.starts_with(DISCHARGE) | pl.col("code").is_null()
        frame = rows.filter(wanted).collect()
    except UNREADABLE as error:
        raise UserError(f"{path} is no shard of MEDS: {_problem(error)}") from error
    bad = frame["patient"].is_null() | frame["code"].is_null() | frame["time"].is_null()
    skip_rows("no subject_id, time or code", frame, bad, notes)
    return frame.filter(~bad)


def _view(code: pl.Expr) -> pl.Expr:
    def begins(prefixes: tuple[str, ...]) -> pl.Expr:
        return pl.any_horizontal(code.str.starts_with(prefix) for prefix in prefixes)

    view = pl.lit(None, pl.String)
    for name, prefixes in PREFIXES.items():
        view = pl.when(begins(prefixes)).then(pl.lit(name)).otherwise(view)
    return pl.when(~begins(ENDINGS)).then(view)


def _told_visits(events: pl.DataFrame) -> pl.DataFrame:
    """A visit for each number of one; it starts at its admission, or else at its first event."""
    admitted = pl.col("time").filter(pl.col("code").str.starts_with(ADMISSION)).min()
    return events.group_by("patient", "visit", maintain_order=True).agg(
        start=pl.coalesce(admitted, pl.col("time").min()), file=pl.col("file").first(), line=pl.col("line").first()
    )


def _found_visits(events: pl.DataFrame) -> pl.DataFrame:
    """A visit for each admission; two at the same moment are one."""
    admissions = events.filter(pl.col("code").str.starts_with(ADMISSION)).sort("patient", "time", "file", "line")
    once = admissions.unique(["patient", "time"], keep="first", maintain_order=True)
    number = pl.int_range(pl.len()).over("patient").cast(pl.String)
    return once.select("patient", number.alias("visit"), pl.col("time").alias("start"), "file", "line")


def _placed(coded: pl.DataFrame, visits: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Events into the visit that began last before them, unless it had ended."""
    left = events.filter(pl.col("code").str.starts_with(DISCHARGE)).select("patient", end="time").sort("end")
    starts = visits.select("patient", "visit", "start").sort("start")
    lasting = starts.join_asof(
        left, left_on="start", right_on="end", by="patient", strategy="forward", check_sortedness=False
    )
    joined = (
        coded.drop("visit")
        .sort("time")
        .join_asof(lasting, left_on="time", right_on="start", by="patient", check_sortedness=False)
    )
    inside = pl.col("end").is_null() | (pl.col("time") <= pl.col("end"))
    return joined.with_columns(visit=pl.when(inside).then("visit")).drop("start", "end")


def _table(events: pl.DataFrame, view: str) -> pl.DataFrame:
    code = pl.col("code").str.strip_prefix(OWN_PREFIX[view])
    chosen = events.filter(pl.col("view") == view)
    return chosen.select(_admission(), "priority", "time", code, "file", "line")


def _admission() -> pl.Expr:
    return pl.format("{}/{}", "patient", "visit").alias("admission")


def _names(folder: Path) -> dict[str, dict[str, str]]:
    """Descriptions of codes, where there are some; a view takes its own."""
    path = folder / "metadata" / "codes.parquet"
    if not path.is_file():
        return {}
    try:
        told = pl.read_parquet(path, columns=["code", "description"]).cast(pl.String).drop_nulls()
    except UNREADABLE as error:
        raise UserError(f"{path} needs columns code and description: {_problem(error)}") from error
    described = told.with_columns(view=_view(pl.col("code")))
    return {
        view: dict(
            described.filter(pl.col("view") == view)
            .select(pl.col("code").str.strip_prefix(prefix), "description")
            .rows()
        )
        for view, prefix in OWN_PREFIX.items()
    }


def _problem(error: BaseException) -> str:
    """Its kind, not its words: these may quote what stands in the file, such as a patient's number."""
    return error.strerror or "it cannot be read" if isinstance(error, OSError) else type(error).__name__
