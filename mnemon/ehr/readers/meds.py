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
from mnemon.ehr.parquet import Kind, column_names, read_blocks
from mnemon.ehr.records import VIEWS, Records
from mnemon.errors import UserError

NO_SHARD = "no shard of MEDS"
NEEDED: dict[str, Kind] = {"subject_id": "whole number", "time": "time", "code": "text"}
EMPTY = pl.DataFrame(
    schema={
        **{"patient": pl.Int64, "time": pl.Datetime("us"), "code": pl.String, "visit": pl.String},
        **{"priority": pl.Int64, "view": pl.String, "file": pl.UInt16, "line": pl.UInt32},
    }
)
NO_NAMES = pl.DataFrame(schema={"code": pl.String, "description": pl.String})
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
    columns, present = dict(NEEDED), column_names(path, NO_SHARD)
    visit = next((name for name in VISIT_COLUMNS if name in present), None)
    if visit is not None:
        columns[visit] = "text"
    if "seq_num" in present:
        columns["seq_num"] = "whole number"
    file_number, rows, events = notes.number_of(path.relative_to(folder).as_posix()), 0, [EMPTY]
    for block in read_blocks(path, columns, NO_SHARD):
        events.append(_of_use(block, visit, file_number, rows))
        rows += block.height
    frame = pl.concat(events)
    bad = frame["patient"].is_null() | frame["code"].is_null() | frame["time"].is_null()
    skip_rows("no subject_id, time or code", frame, bad, notes)
    return frame.filter(~bad)


def _of_use(block: pl.DataFrame, visit: str | None, file_number: int, rows_before: int) -> pl.DataFrame:
    """The rows of a block that are of use, and where they stand."""
    code = pl.col("code")
    rows = block.select(
        patient="subject_id",
        time="time",
        code=code,
        visit=pl.lit(None, pl.String) if visit is None else visit,
        priority="seq_num" if "seq_num" in block.columns else pl.lit(None, pl.Int64),
        view=_view(code),
        file=pl.lit(file_number, pl.UInt16),
        line=pl.int_range(rows_before + 1, rows_before + block.height + 1, dtype=pl.UInt32),
    )
    wanted = pl.col("view").is_not_null() | code.str.starts_with(ADMISSION)
    return rows.filter(wanted | code.str.starts_with(DISCHARGE) | code.is_null())


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
    blocks = read_blocks(path, {"code": "text", "description": "text"}, "no list of codes and their descriptions")
    told = pl.concat([NO_NAMES, *blocks]).drop_nulls()
    described = told.with_columns(view=_view(pl.col("code")))
    return {
        view: dict(
            described.filter(pl.col("view") == view)
            .select(pl.col("code").str.strip_prefix(prefix), "description")
            .rows()
        )
        for view, prefix in OWN_PREFIX.items()
    }
