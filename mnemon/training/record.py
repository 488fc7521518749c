"""Records: what a run measured, one JSON object a line.

There are no times in them, so that the same seed gives the same bytes. A row is

    {"kind": "train", "step": 100, "loss": 0.69, "metrics": {"bit errors": 31.5}, "crc": "1f0c2b3a"}
    {"kind": "eval", "step": 100, "test": "length 40", "loss": 0.7, "metrics": {"bit errors": 160.2}, "crc": "…"}

where a value that is not finite is written as ``null``, because JSON has no other word for it, and ``crc`` is the
checksum of the rest of the row; a row without one is taken as it is.
"""

import errno
import json
import math
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from mnemon.errors import UserError
from mnemon.training.files import DamagedFile, write_atomically

Kind = Literal["train", "eval"]
KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row. For ``train``, the loss is the mean over the steps since the row before."""

    kind: Kind
    step: int
    loss: float
    metrics: dict[str, float]
    test: str | None = None  # which held-out setting; only for ``eval``

    def to_line(self) -> bytes:
        """The row as it stands in the file."""
        row: dict[str, Any] = {"kind": self.kind, "step": self.step}
        if self.test is not None:
            row["test"] = self.test
        row["loss"] = json_number(self.loss)
        row["metrics"] = {name: json_number(value) for name, value in self.metrics.items()}
        return _as_line({**row, "crc": _checksum(row)})


class RecordWriter:
    """Appends rows; each reaches the file before the next step starts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("ab", buffering=0)  # what a full disk does not take is not tried again when it is closed

    def add(self, record: Record) -> None:
        """Append one row."""
        line = record.to_line()
        try:
            if self._file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {error.strerror or error}") from error

    def reach_disk(self) -> None:
        """Make all rows so far survive a power cut."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """No row will follow."""
        self._file.close()


def read_records(path: Path) -> list[Record]:
    """All whole rows of a file; a last line without its end is one that was being written, and is left out."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    return [parse_record(line, f"{path} line {number}") for number, line in enumerate(lines, start=1)]


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write a file of these rows in one go."""
    write_atomically(path, b"".join(record.to_line() for record in records))


def parse_record(line: bytes | str, place: str) -> Record:
    """The row of a line; ``place`` is where it stands, for whoever has to look there."""
    try:
        row = json.loads(line)
        sound = row.pop("crc", None) in (None, _checksum(row))
        record = Record(
            kind=KINDS[row["kind"]],
            step=int(row["step"]),
            loss=_number(row["loss"]),
            metrics={name: _number(value) for name, value in row["metrics"].items()},
            test=row.get("test"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise DamagedFile(f"{place} is not a record of a run: {line[:60]!r}") from error
    if not sound:
        raise DamagedFile(f"{place} is damaged: its checksum does not fit what it says")
    return record


def _as_line(row: dict[str, Any]) -> bytes:
    return (json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n").encode()


def _checksum(row: dict[str, Any]) -> str:
    return f"{zlib.crc32(_as_line(row)):08x}"


def json_number(value: float) -> float | None:
    """The value, or None for what JSON has no word for."""
    return value if math.isfinite(value) else None


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
