"""Formats of health records that can be read. The one of a folder is recognised from its files."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mnemon.data.notes import Notes
from mnemon.ehr.extra import require_extra
from mnemon.ehr.records import VIEWS, Records
from mnemon.errors import UserError, look_up

DRUG_CODES = ("formulary", "ndc", "name")


class Format(NamedTuple):
    """How to tell a format, and how to read it."""

    recognise: Callable[[Path], bool]
    read: Callable[[Path, Notes, Collection[str]], Records]


def read_source(
    folder: Path, name: str | None = None, drug_code: str = "formulary", views: Collection[str] = VIEWS
) -> Records:
    """Read a folder of health records; ``drug_code`` says which column of MIMIC-III tells a drug.

    Tables of other views than the asked ones are not read.
    """
    _require_readers()
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: write the one that holds the health records")
    if drug_code not in DRUG_CODES:
        raise UserError(f"no code of drugs is called {drug_code!r}: write one of {', '.join(DRUG_CODES)}")
    formats = _formats(drug_code)
    if name is None:
        found = _recognise(folder)
        if len(found) != 1:
            problem = f"looks like {' and '.join(found)}" if found else "holds no health records that are known"
            raise UserError(f"{folder} {problem}: write --format and one of {', '.join(formats)}")
        name = found[0]
    return look_up(formats, name, "format").read(folder, Notes(), views)


def recognised(folder: Path) -> str | None:
    """The format of a folder, if it holds health records of one."""
    found = _recognise(folder) if folder.is_dir() else []
    return found[0] if len(found) == 1 else None


def _recognise(folder: Path) -> list[str]:
    _require_readers()
    return [known for known, form in _formats(DRUG_CODES[0]).items() if form.recognise(folder)]


def _require_readers() -> None:
    for module in ("polars", "pyarrow"):
        require_extra(module, "reading health records")


def _formats(drug_code: str) -> dict[str, Format]:
    """The catalogue. Readers import polars and pyarrow, which a user of other parts need not have."""
    from mnemon.ehr.readers import desynpuf, eicu, meds, mimic3

    return {
        "mimic3": Format(mimic3.recognise, partial(mimic3.read, drug_code=drug_code)),
        "eicu": Format(eicu.recognise, eicu.read),
        "desynpuf": Format(desynpuf.recognise, desynpuf.read),
        "meds": Format(meds.recognise, meds.read),
    }
