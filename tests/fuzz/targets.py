"""Every reader of files from elsewhere, as a function of bytes: it may raise UserError, or count what it left out."""

import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mnemon.data.babi import read_sentences, read_stories
from mnemon.data.dialogue.chit_chat import read_chit_chat
from mnemon.data.dialogue.conversations import Lengths
from mnemon.data.dialogue.cornell import read_cornell
from mnemon.data.dialogue.open_subtitles import read_open_subtitles
from mnemon.data.dialogue.self_dialogue import read_self_dialogue
from mnemon.data.dialogue.tab_pairs import read_tab_pairs
from mnemon.data.documents import DOCUMENT_SETS, encode, read_csv
from mnemon.data.files import open_text
from mnemon.data.glove import read_glove
from mnemon.data.idx import read_idx
from mnemon.data.notes import Notes
from mnemon.data.omniglot import DRAWING, read_png
from mnemon.data.unpacking import tar_members, zip_members
from mnemon.ehr.sources import read_source
from mnemon.ehr.tables import Column, read_whole
from mnemon.errors import UserError
from mnemon.laws.base import measured_from_json
from mnemon.report.description import NAME, read_description
from mnemon.training import checkpoint
from mnemon.training.files import read_json
from mnemon.training.record import read_records

ANY = re.compile(".*")
NEWS = DOCUMENT_SETS["ag-news"]
COLUMNS = (
    Column(name="patient", header="SUBJECT_ID"),
    Column(name="time", header="ADMITTIME", kind="time"),
    Column(name="place", header="SEQ_NUM", kind="whole number", needed=False),
)


class Target(NamedTuple):
    """A reader, and the name that its file has in a folder."""

    file: str
    read: Callable[[Path], Any]


class _Everything:
    """Contains every word."""

    def __contains__(self, word: object) -> bool:
        return True


def _babi(path: Path) -> None:
    with open_text(path) as file:
        text = file.read()
    read_stories(text, path.name)
    read_sentences(text, path.name)


def _said(read: Callable[..., Any], path: Path) -> None:
    list(read(path.parent, Lengths(), Notes()))


def _cornell(path: Path) -> None:
    """One half of the bytes is what was said, the other which of it belongs together."""
    data = path.read_bytes()
    (path.parent / "movie_lines.txt").write_bytes(data[: len(data) // 2])
    (path.parent / "movie_conversations.txt").write_bytes(data[len(data) // 2 :])
    _said(read_cornell, path)


def _meds(path: Path) -> None:
    (path.parent / "data").mkdir(exist_ok=True)
    path.replace(path.parent / "data" / "0.parquet")
    read_source(path.parent)


TARGETS: dict[str, Target] = {
    "babi": Target("qa1.txt", _babi),
    "csv": Target("train.csv", lambda path: encode(read_csv(path, NEWS), {})),
    "csv.gz": Target("train.csv.gz", lambda path: encode(read_csv(path, NEWS), {})),
    "table": Target("ADMISSIONS.csv", lambda path: read_whole(path, COLUMNS, Notes())),
    "idx": Target("images", lambda path: read_idx(path, 3)),
    "glove": Target("glove.txt", lambda path: read_glove(path, _Everything())),
    "png": Target("a.png", lambda path: read_png(path.read_bytes(), "a.png")),
    "tar": Target("a.tar.gz", lambda path: list(tar_members(path, ANY))),
    "zip": Target("a.zip", lambda path: list(zip_members(path, DRAWING))),
    "meds": Target("events.parquet", _meds),
    "chit-chat": Target("dataset.json", partial(_said, read_chit_chat)),
    "self-dialogue": Target("self_dialogue.jsonl", partial(_said, read_self_dialogue)),
    "pairs": Target("pairs.tsv", partial(_said, read_tab_pairs)),
    "subtitles": Target("a.xml", partial(_said, read_open_subtitles)),
    "cornell": Target("both", _cornell),
    "checkpoint": Target("step-00000001.safetensors", checkpoint.load),
    "records": Target("records.jsonl", read_records),
    "experiment": Target(NAME, lambda path: read_description(path.parent)),
    "law": Target("law.json", lambda path: measured_from_json(read_json(path))),
}


def try_bytes(name: str, data: bytes) -> bool:
    """Whether a reader took them; what it raises, but for a complaint to the user, is a fault of ours."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / TARGETS[name].file
        path.write_bytes(data)
        try:
            TARGETS[name].read(path)
        except UserError as error:
            if "\n" in str(error):
                raise RuntimeError("a complaint of several lines") from error
            return False
        return True
