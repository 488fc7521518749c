"""Writing a file so that a reader meets the old one or the new one, never half of either.

Checkpoints, summaries and rewritten records all go through here, so that a run may be killed at any moment. A JSON
document carries a checksum, so that a file that was damaged later is found out.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnemon.errors import UserError

# A killed run may leave such a file behind; the next write of the same name takes it over.
PARTIAL = ".partial"
# A document without one is taken as it is.
CHECKSUM = "checksum"


class DamagedFile(UserError):
    """A file is not as it was written, or is none of ours."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside ``path``, reach the disk, then take its place in one step."""
    partial = path.with_name(path.name + PARTIAL)
    try:
        try:
            with partial.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
            _reach_disk(path.parent)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write a JSON document for people to read: indented, one field a line, its checksum last."""
    whole = {**document, CHECKSUM: _checksum(document)}
    write_atomically(path, (json.dumps(whole, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON document whose outermost value is an object."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} is not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise DamagedFile(f"{path} holds a JSON {type(document).__name__} where an object is needed")
    checksum = document.pop(CHECKSUM, None)
    if checksum not in (None, _checksum(document)):
        raise DamagedFile(f"{path} is damaged: its checksum does not fit what it says")
    return document


def _checksum(document: Mapping[str, Any]) -> str:
    """Of what the document says, however it is laid out."""
    as_read = json.loads(json.dumps(document))
    return hashlib.sha256(json.dumps(as_read, sort_keys=True).encode()).hexdigest()


def _reach_disk(folder: Path) -> None:
    """Make the renaming itself durable: on Unix the name lives in the folder, which has its own cache."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
