"""Finding and opening the files of a data set: whatever is wrong with one is told in a line that names it."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

from mnemon.data.unpacking import unpacked
from mnemon.errors import UserError


def data_folder(root: Path, *names: str) -> Path:
    """The folder of a data set: the first of the names under ``root``, or ``root`` itself."""
    if not root.is_dir():
        raise UserError(f"{root} is not a folder: write the one that holds the data")
    return next((root / name for name in names if (root / name).is_dir()), root)


def find_file(folder: Path, *names: str, what: str) -> Path:
    """The first of the files that is there, plain or as ``.gz``."""
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise UserError(f"{folder / names[0]} is missing: put {what} there, plain or as .gz")


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """A file to read, unpacked on the way where its name ends in ``.gz``."""
    try:
        with unpacked(path, gzip.open) if path.suffix.lower() == ".gz" else path.open("rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A file of UTF-8 text to read, line ends as they are."""
    with open_bytes(path) as file:
        try:
            yield TextIOWrapper(file, encoding="utf-8", newline="")
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start} of a block") from error
