"""Columns of a parquet file from elsewhere, typed, a block of rows at a time.

pyarrow reads the file, not polars: a damaged page that claims far more values than memory holds makes polars end the
whole process, where pyarrow raises. Blocks are checked in full before polars is given them, and it is given whole
numbers, times and text alone. The distinct values of a text are kept once in a block, however often they stand there.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mnemon.data.unpacking import ALWAYS_ALLOWED, MOST_TIMES
from mnemon.errors import UserError

Kind = Literal["text", "whole number", "time"]
ROWS_OF_A_BLOCK = 1 << 18
TYPES = {"text": pa.large_string(), "whole number": pa.int64(), "time": pa.timestamp("us")}
# Names of columns that are no text are the third, a file of more than memory holds the fourth.
UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError, MemoryError)


def column_names(path: Path, what: str) -> list[str]:
    """The columns of a file, but for those that have parts; if it cannot be read, a complaint that it is ``what``."""
    with _complaints(path, what):
        schema = pq.read_metadata(path).schema
        return [schema.column(place).path for place in range(len(schema))]


def read_blocks(path: Path, columns: Mapping[str, Kind], what: str) -> Iterator[pl.DataFrame]:
    """Frames of some columns, in the order of the rows; if they cannot be read, a complaint that it is ``what``."""
    present = column_names(path, what)
    for name in columns:
        if present.count(name) != 1:
            found = "more than one column" if name in present else "no column"
            raise UserError(f"{path} has {found} {name}: it is {what}")
    texts = [name for name, kind in columns.items() if kind == "text"]
    with (
        _complaints(path, what),
        pq.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True) as file,
    ):
        left = max(MOST_TIMES * path.stat().st_size, ALWAYS_ALLOWED)
        for block in file.iter_batches(ROWS_OF_A_BLOCK, columns=list(columns)):
            left -= block.nbytes
            if left < 0:
                raise UserError(f"{path} unpacks to more than {MOST_TIMES} times its size: it is refused")
            block.validate(full=True)
            yield pl.DataFrame({name: _series(block.column(name), kind) for name, kind in columns.items()})


@contextmanager
def _complaints(path: Path, what: str) -> Iterator[None]:
    """Whatever is wrong is told by its kind, not its words: these may quote what stands there, a patient's number."""
    try:
        yield
    except UNREADABLE as error:
        told = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise UserError(f"{path} is {what}: {told or 'it cannot be read'}") from error


def _series(column: Any, kind: Kind) -> pl.Series:
    if pa.types.is_dictionary(column.type) and kind == "text":
        known, places = pl.Series(pc.cast(column.dictionary, TYPES[kind])), pl.Series(column.indices)
        return known.gather(places)
    options = pc.CastOptions(target_type=TYPES[kind], allow_time_truncate=True)
    return pl.Series(pc.cast(column, options=options))
