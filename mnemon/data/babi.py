"""bAbI's 20 tasks (Weston et al., 2015): stories with questions, one sentence a line, in the published archive.

A line is its number in the story and a sentence; a question has after it, separated by tabs, the answer and the numbers
of the sentences that tell it. A number of 1 begins a new story. An answer of several words has commas between them.
"""

import re
import tarfile
import zlib
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path

from mnemon.data.files import open_text
from mnemon.errors import UserError

TASKS: dict[int, str] = {
    1: "1 supporting fact",
    2: "2 supporting facts",
    3: "3 supporting facts",
    4: "2 argument relations",
    5: "3 argument relations",
    6: "yes/no questions",
    7: "counting",
    8: "lists/sets",
    9: "simple negation",
    10: "indefinite knowledge",
    11: "basic coreference",
    12: "conjunction",
    13: "compound coreference",
    14: "time reasoning",
    15: "basic deduction",
    16: "basic induction",
    17: "positional reasoning",
    18: "size reasoning",
    19: "path finding",
    20: "agent's motivation",
}
ANSWER = "-"  # the word shown while a word of an answer is asked
WORD = re.compile(r"[\w'-]+|[^\w\s]")
FILE = re.compile(r"(?:.*/)?en-10k/qa(\d+)_[^/]*_(train|train\.PARTIAL|test)\.txt")


@dataclass(frozen=True, kw_only=True)
class Story:
    """Words one after the other, and for each the word that is asked at it, or none."""

    words: list[str]
    asked: list[str | None]


def read_babi(folder: Path) -> dict[tuple[int, str], list[Story]]:
    """The stories of each task, for "train" and "test": from the folder ``en-10k``, or from the archive it came in.

    Of a training file that is an excerpt, and says so by its name, the excerpt is taken.
    """
    texts = _from_folder(folder)
    for archive in [] if texts else sorted(folder.glob("*tasks_1-20_v1-2*.tar*")):
        texts |= _from_archive(archive)
    found: dict[tuple[int, str], list[Story]] = {}
    for name, text in sorted(texts.items()):  # an excerpt comes first, and the whole takes its place
        number, part = _place(name)
        found[number, part] = read_stories(text, name)
    for number in TASKS:
        for part in ("train", "test"):
            if (number, part) not in found:
                missing = f"{folder}/en-10k/qa{number}_*_{part}.txt"
                raise UserError(f"{missing} is missing: put bAbI's tasks there, or tasks_1-20_v1-2.tar.gz in {folder}")
    return {place: found[place] for place in sorted(found)}


def read_stories(text: str, name: str) -> list[Story]:
    """The stories of a file; ``name`` is for complaints."""
    stories: list[Story] = []
    for count, line in enumerate(text.splitlines(), start=1):
        number, _, rest = line.partition(" ")
        sentence, *answered = rest.split("\t")
        words = WORD.findall(sentence.lower())
        answer = answered[0].lower().split(",") if answered else []
        if not number.isdecimal() or not words or not all(answer) or (number != "1" and not stories):
            raise UserError(f"{name} line {count} is not a number and a sentence, with an answer after a question")
        if number == "1":
            stories.append(Story(words=[], asked=[]))
        stories[-1].words.extend([*words, *(ANSWER for _ in answer)])
        stories[-1].asked.extend([*(None for _ in words), *answer])
    whole = [story for story in stories if any(story.asked)]
    if not whole:
        raise UserError(f"{name} has no story with a question in it")
    return whole


def _place(name: str) -> tuple[int, str]:
    """The number of the task and the part that a file is of."""
    found = FILE.fullmatch(name)
    assert found is not None
    return int(found[1]), found[2].removesuffix(".PARTIAL")


def _from_folder(folder: Path) -> dict[str, str]:
    texts = {}
    for path in sorted(folder.rglob("qa*.txt")):
        if FILE.fullmatch(path.as_posix()):
            with open_text(path) as file:
                texts[str(path)] = file.read()
    return texts


def _from_archive(path: Path) -> dict[str, str]:
    texts = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member) if FILE.fullmatch(member.name) else None
                if file is not None:
                    texts[f"{path}/{member.name}"] = file.read().decode()
    except (tarfile.TarError, OSError, EOFError, LZMAError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}") from error
    return texts
