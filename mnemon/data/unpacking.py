"""Reading packed files without being flooded: nothing is ever unpacked to disk, and how much is unpacked has a limit.

A few kilobytes can be made to unpack to gigabytes. Text packs to a tenth, tables of one kind to a fiftieth; what grows
to :data:`MOST_TIMES` its size, or has a member larger than :data:`LARGEST_MEMBER`, was made to do harm.
"""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from re import Pattern
from typing import Any, BinaryIO, cast

from mnemon.errors import UserError

MOST_TIMES = 200
ALWAYS_ALLOWED = 1 << 24  # bytes: small files may be as regular as they like
LARGEST_MEMBER = 1 << 26
# By how a file begins.
UNPACKERS: dict[bytes, Callable[[Path], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
PROBLEMS = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, NotImplementedError),
    *(UnicodeDecodeError, OverflowError, struct.error),  # of damaged headers
)


class _Bounded(io.RawIOBase):
    """A file of which only so many bytes can be read."""

    def __init__(self, file: io.BufferedIOBase, path: Path, limit: int) -> None:
        self._file, self._path = file, path
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise UserError(f"{self._path} unpacks to more than {MOST_TIMES} times its size: it is refused")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def unpacked(path: Path, unpack: Callable[[Path], Any]) -> Iterator[BinaryIO]:
    """The content of a packed file, up to the limit."""
    limit = max(MOST_TIMES * path.stat().st_size, ALWAYS_ALLOWED)
    with unpack(path) as file:
        yield cast(BinaryIO, io.BufferedReader(_Bounded(file, path, limit)))


def _as_it_begins(path: Path) -> AbstractContextManager[BinaryIO]:
    """A file to read, unpacked on the way if it begins as a packed one does."""
    with path.open("rb") as file:
        beginning = file.read(6)
    for magic, unpack in UNPACKERS.items():
        if beginning.startswith(magic):
            return unpacked(path, unpack)
    return path.open("rb")


def tar_members(path: Path, wanted: Pattern[str]) -> Iterator[tuple[str, str]]:
    """Name and text of the files of an archive whose names are wanted; links and the like are left out."""
    try:
        with _as_it_begins(path) as file, tarfile.open(fileobj=file, mode="r|") as archive:
            for member in archive:
                if member.isfile() and wanted.fullmatch(member.name):
                    _check_size(path, member.name, member.size)
                    content = archive.extractfile(member)
                    assert content is not None
                    yield member.name, content.read().decode()
    except PROBLEMS as error:
        raise UserError(f"cannot read {path}: {error}") from error


def zip_members(path: Path, wanted: Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files of an archive whose names are wanted, in the order of these."""
    try:
        with zipfile.ZipFile(path) as archive:
            for member in sorted(archive.infolist(), key=lambda member: member.filename):
                if wanted.fullmatch(member.filename):
                    _check_size(path, member.filename, member.file_size)
                    yield member.filename, archive.read(member)
    except (*PROBLEMS, RuntimeError) as error:  # the last is a member that needs a password
        raise UserError(f"cannot read {path}: {error}") from error


def _check_size(path: Path, name: str, size: int) -> None:
    if size > LARGEST_MEMBER:
        raise UserError(f"{path} has {name} of {size:,} bytes, more than {LARGEST_MEMBER:,}: it is refused")
