"""Typed tables from csv files, a block at a time. A row whose needed fields do not parse is counted and left out.

Names of columns and files may be in upper or lower case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from jaxtyping import UInt32

from mnemon.data.notes import Notes
from mnemon.ehr.rows import read_header, read_rows
from mnemon.errors import UserError

Kind = Literal["text", "whole number", "time"]
TIMES = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d", "%Y%m%d")


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column to read."""

    name: str  # in the table
    header: str  # in the file
    kind: Kind = "text"
    needed: bool = True  # a row without it is left out
    optional: bool = False  # the file may lack the column, which is then empty


def find_table(folder: Path, name: str) -> Path | None:
    """The file of a table: ``NAME.csv`` or ``NAME.csv.gz`` in upper or lower case."""
    wanted = {f"{name}{ending}".lower() for ending in (".csv", ".csv.gz")}
    found = sorted(path for path in folder.iterdir() if path.name.lower() in wanted and path.is_file())
    if len(found) > 1:
        raise UserError(
            f"{folder} has several files of one table: keep one of {', '.join(path.name for path in found)}"
        )
    return found[0] if found else None


def need_table(folder: Path, name: str) -> Path:
    """The file of a table that must be there."""
    path = find_table(folder, name)
    if path is None:
        raise UserError(f"{folder / name}.csv is missing: put the table there, plain or as .gz")
    return path


def read_table(path: Path, columns: Sequence[Column], notes: Notes) -> Iterator[pl.DataFrame]:
    """Frames of the asked columns, and of ``file`` and ``line``."""
    header = [name.lower() for name in read_header(path)]
    present = [column for column in columns if column.header.lower() in header or not column.optional]
    for column in present:
        if column.header.lower() not in header:
            raise UserError(f"{path} has no column {column.header}: its header is {_shortened(header)}")
    places = {column.name: header.index(column.header.lower()) for column in present}
    order = sorted(set(places.values()))
    absent = [pl.lit(None, pl.String).alias(column.name) for column in columns if column not in present]
    number = notes.number_of(path.name)
    for rows in read_rows(path, notes):
        frame = pl.read_csv(rows.text, has_header=False, columns=order, infer_schema=False)
        if frame.height != len(rows.lines):
            raise UserError(f"{path} near line {rows.lines[0]}: rows of csv and lines do not agree; check its quotes")
        fields = [frame.columns[order.index(place)] for place in places.values()]
        chosen = frame.select(
            *(_text(field).alias(name) for name, field in zip(places, fields, strict=True)),
            *absent,
            pl.lit(number, pl.UInt16).alias("file"),
            pl.Series("line", rows.lines, dtype=pl.UInt32),
        )
        yield _parsed(chosen, columns, path.name, notes)


def read_whole(path: Path, columns: Sequence[Column], notes: Notes) -> pl.DataFrame:
    """All of a table in one frame."""
    frames = list(read_table(path, columns, notes))
    return pl.concat(frames) if frames else empty_table(columns)


def empty_table(columns: Sequence[Column]) -> pl.DataFrame:
    """No rows, but their types."""
    types: dict[Kind, pl.DataType] = {"text": pl.String(), "whole number": pl.Int64(), "time": pl.Datetime("us")}
    return pl.DataFrame(
        schema={column.name: types[column.kind] for column in columns} | {"file": pl.UInt16(), "line": pl.UInt32()}
    )


def _text(field: str) -> pl.Expr:
    """Without blanks around it; nothing where nothing stands."""
    stripped = pl.col(field).str.strip_chars()
    return pl.when(stripped != "").then(stripped)


def _parsed(frame: pl.DataFrame, columns: Sequence[Column], file: str, notes: Notes) -> pl.DataFrame:
    typed = frame.with_columns(_parse(frame[column.name], column.kind) for column in columns)
    good = pl.Series([True]).new_from_index(0, frame.height)
    for column in columns:
        given, read = frame[column.name].is_not_null(), typed[column.name].is_not_null()
        if column.kind != "text":
            notes.skip(f"{column.header} is no {column.kind}", file, _lines(frame, good & given & ~read))
            good &= read | ~given
        if column.needed:
            notes.skip(f"no {column.header}", file, _lines(frame, good & ~given))
            good &= given
    return typed.filter(good)


def _parse(text: pl.Series, kind: Kind) -> pl.Series:
    """Typed, and empty where that fails. Most files write times in one form: others are tried where it does not fit."""
    if kind == "whole number":
        return text.cast(pl.Int64, strict=False)
    if kind == "text":
        return text
    found = text.str.to_datetime(TIMES[0], strict=False, time_unit="us")
    for form in TIMES[1:]:
        if found.null_count() > text.null_count():
            found = found.zip_with(found.is_not_null(), text.str.to_datetime(form, strict=False, time_unit="us"))
    return found


def _lines(frame: pl.DataFrame, chosen: pl.Series) -> UInt32[np.ndarray, "rows"]:
    return frame["line"].filter(chosen).to_numpy()


def _shortened(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
