"""From the tables of a reader to records: events into their admissions, and both into order.

Every reader gives two kinds of tables:

- admissions: ``patient``, ``admission``, ``start``, ``file``, ``line``;
- events of a view: ``admission``, ``code``, ``file``, ``line``, and what orders them within their admission:
  ``priority`` (a whole number, smallest first) and ``time``. Events alike in both stay in the order of their file.
"""

import numpy as np
import polars as pl
from jaxtyping import Int64

from mnemon.data.notes import Notes
from mnemon.ehr.ragged import from_lengths
from mnemon.ehr.records import Events, Records
from mnemon.errors import UserError


def assemble(
    source: str,
    admissions: pl.DataFrame,
    events: dict[str, pl.DataFrame],
    names: dict[str, dict[str, str]],
    notes: Notes,
) -> Records:
    """Put the events into their admissions, and both into order."""
    visits = _visits(admissions, notes)
    if visits.is_empty():
        raise UserError(f"there is no admission to read in this {source} folder: check its tables")
    number = visits.select("admission", "start").with_row_index("visit")
    patients = visits["patient"].unique(maintain_order=True)
    return Records(
        source=source,
        patients=[str(patient) for patient in patients],
        visit_patient=visits["patient"].rle_id().cast(pl.Int64).to_numpy(),
        visit_start=_microseconds(visits["start"]),
        views={view: _events(view, table, number, names.get(view, {}), notes) for view, table in events.items()},
        notes=notes,
    )


def _visits(admissions: pl.DataFrame, notes: Notes) -> pl.DataFrame:
    """Each admission once, by patient and time; those at the same moment stay in the order of the file."""
    again = ~admissions["admission"].is_first_distinct()
    skip_rows("an admission that was listed before", admissions, again, notes)
    return admissions.filter(~again).sort("patient", "start", "file", "line")


def _events(view: str, table: pl.DataFrame, visits: pl.DataFrame, names: dict[str, str], notes: Notes) -> Events:
    placed = table.join(visits, on="admission", how="left", maintain_order="left")
    lost = placed["visit"].is_null()
    skip_rows(f"a {view} of an admission that is not listed", placed, lost, notes)
    keys = [key for key in ("priority", "time") if key in placed.columns]
    ordered = placed.filter(~lost).sort("visit", *keys, "file", "line", nulls_last=True)
    known = ordered["code"].unique().sort().to_list()
    codes = ordered["code"].cast(pl.Enum(known)).to_physical().cast(pl.Int32).to_numpy()
    lengths = np.bincount(ordered["visit"].to_numpy(), minlength=visits.height)
    times = ordered["time"].fill_null(ordered["start"]) if "time" in keys else ordered["start"]
    return Events(
        codes=from_lengths(codes, lengths),
        times=_microseconds(times),
        known=known,
        names={code: names[code] for code in known if code in names},
    )


def skip_rows(reason: str, table: pl.DataFrame, rows: pl.Series, notes: Notes) -> None:
    """Count rows that the caller leaves out."""
    left_out = table.filter(rows).sort("file", "line")
    notes.skip_in(reason, left_out["file"].to_numpy(), left_out["line"].to_numpy())


def _microseconds(times: pl.Series) -> Int64[np.ndarray, "E"]:
    return times.cast(pl.Datetime("us")).to_physical().to_numpy()
