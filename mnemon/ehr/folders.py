"""Writing a folder so that a reader meets the old one or the new one, never half of either."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemon.errors import UserError


def check_free(folder: Path, mark: str, *, overwrite: bool) -> None:
    """Refuse a folder that is there, unless it may be replaced and is of the kind that ``mark`` (a file) tells."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise UserError(f"{folder} is a file: write a folder that is not there yet")
    empty = not any(folder.iterdir())
    if not overwrite and not empty:
        raise UserError(f"{folder} is not empty: write another folder, or --overwrite to replace it")
    if not empty and not (folder / mark).is_file():
        raise UserError(f"{folder} has no {mark}, so it is not replaced: write another folder")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into, which takes the place of ``folder`` when all went well, and else vanishes."""
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    replaced = folder.with_name(f".{folder.name}.{os.getpid()}.replaced")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial.mkdir()
        try:
            yield partial
            if folder.exists():
                folder.rename(replaced)
            partial.rename(folder)
            shutil.rmtree(replaced, ignore_errors=True)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror or error}") from error
