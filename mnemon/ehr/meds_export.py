"""Records as a MEDS data set, which other tools read: a row for each admission and each code of it.

Beside the columns of the standard there are ``visit_id``, numbering the admissions, and ``seq_num``, the place of a
code among those of its view. Patients are numbered. Events without a time of their own have that of their admission.
"""

from pathlib import Path

import numpy as np
import polars as pl

from mnemon.ehr.folders import new_folder
from mnemon.ehr.readers.meds import ADMISSION, OWN_PREFIX
from mnemon.ehr.records import Events, Records
from mnemon.training.files import write_json
from mnemon.training.versions import mnemon_version

MARK = "metadata/dataset.json"
PATIENTS_OF_A_SHARD = 10_000
VERSION = "0.4.1"


def write_meds(records: Records, folder: Path) -> int:
    """Write the shards and what describes them; the number of rows."""
    events = _all_events(records).sort("subject_id", "time", "visit_id", maintain_order=True)
    with new_folder(folder) as partial:
        (partial / "data").mkdir()
        (partial / "metadata").mkdir()
        shards = events.group_by((pl.col("subject_id") // PATIENTS_OF_A_SHARD).alias("shard"), maintain_order=True)
        for (shard,), rows in shards:
            rows.write_parquet(partial / "data" / f"{shard}.parquet")
        _codes(records).write_parquet(partial / "metadata" / "codes.parquet")
        write_json(partial / MARK, _description(records))
    return events.height


def _all_events(records: Records) -> pl.DataFrame:
    visits = np.arange(len(records.visit_patient))
    rows = [_rows(records, visits, records.visit_start, pl.Series([ADMISSION]).new_from_index(0, len(visits)), None)]
    for view, events in records.views.items():
        codes = pl.Series([OWN_PREFIX[view] + code for code in events.known], dtype=pl.String)
        owners = events.codes.owners
        places = np.arange(len(owners)) - events.codes.offsets[owners]
        rows.append(_rows(records, owners, events.times, codes.gather(events.codes.values), places))
    return pl.concat(rows)


def _rows(
    records: Records, visits: np.ndarray, times: np.ndarray, codes: pl.Series, places: np.ndarray | None
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "subject_id": pl.Series(records.visit_patient[visits], dtype=pl.Int64),
            "time": pl.Series(times, dtype=pl.Int64).cast(pl.Datetime("us")),
            "code": codes,
            "numeric_value": pl.Series([None], dtype=pl.Float32).new_from_index(0, len(visits)),
            "visit_id": pl.Series(visits, dtype=pl.Int64),
            "seq_num": pl.Series([None] * len(visits) if places is None else places, dtype=pl.Int32, strict=False),
        }
    )


def _codes(records: Records) -> pl.DataFrame:
    """Every code of the data set once, with its name where it has one."""

    def described(view: str, events: Events) -> list[tuple[str, str | None]]:
        return [(OWN_PREFIX[view] + code, events.names.get(code)) for code in events.known]

    known: list[tuple[str, str | None]] = [(ADMISSION, "admission to the hospital")]
    for view, events in records.views.items():
        known += described(view, events)
    return pl.DataFrame(
        {
            "code": [code for code, _ in known],
            "description": pl.Series([name for _, name in known], dtype=pl.String),
            "parent_codes": pl.Series([None] * len(known), dtype=pl.List(pl.String)),
        }
    )


def _description(records: Records) -> dict[str, object]:
    return {
        "dataset_name": records.source,
        "etl_name": "mnemon",
        "etl_version": mnemon_version(),
        "meds_version": VERSION,
        "other_extension_columns": ["visit_id", "seq_num"],
    }
