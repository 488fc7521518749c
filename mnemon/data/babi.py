"""bAbI's 20 tasks (Weston et al., 2015): stories with questions, one sentence a line, in the published archive.

A line is its number in the story and a sentence; a question has after it, separated by tabs, the answer and the numbers
of the sentences that tell it. A number of 1 begins a new story. An answer of several words has commas between them.

A story can be had word by word, with its questions in between, or as sentences with the questions beside them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from mnemon.data.files import open_text
from mnemon.data.unpacking import tar_members
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
MOST_DIGITS = 9  # of a number of a line
MARK = re.compile(r"[^\w]+")  # a word that is none
FILE = re.compile(r"(?:.*/)?en-10k/qa(\d+)_[^/]*_(train|train\.PARTIAL|test)\.txt")


@dataclass(frozen=True, kw_only=True)
class Story:
    """Words one after the other, and for each the word that is asked at it, or none."""

    words: list[str]
    asked: list[str | None]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked after the first ``told`` sentences of a story, and the places of those that tell the answer."""

    words: tuple[str, ...]
    answer: str  # its words with commas between them
    told: int
    facts: list[int]


@dataclass(frozen=True, kw_only=True)
class Tale:
    """A story as sentences, without marks, and the questions about it."""

    sentences: list[tuple[str, ...]]
    questions: list[Question]


T = TypeVar("T")


def read_babi(folder: Path) -> dict[tuple[int, str], list[Story]]:
    """The stories of each task, word by word, for "train" and "test"."""
    return _read(folder, read_stories)


def read_tales(folder: Path) -> dict[tuple[int, str], list[Tale]]:
    """The stories of each task, as sentences and questions, for "train" and "test"."""
    return _read(folder, read_sentences)


def _read(folder: Path, read: Callable[[str, str], list[T]]) -> dict[tuple[int, str], list[T]]:
    """From the folder ``en-10k``, or from the archive it came in.

    Of a training file that is an excerpt, and says so by its name, the excerpt is taken.
    """
    texts = _from_folder(folder)
    for archive in [] if texts else sorted(folder.glob("*tasks_1-20_v1-2*.tar*")):
        texts |= {f"{archive}/{name}": text for name, text in tar_members(archive, FILE)}
    found: dict[tuple[int, str], list[T]] = {}
    for name, text in sorted(texts.items()):  # an excerpt comes first, and the whole takes its place
        number, part = _place(name)
        found[number, part] = read(text, name)
    for number in TASKS:
        for part in ("train", "test"):
            if (number, part) not in found:
                missing = f"{folder}/en-10k/qa{number}_*_{part}.txt"
                raise UserError(f"{missing} is missing: put bAbI's tasks there, or tasks_1-20_v1-2.tar.gz in {folder}")
    return {place: found[place] for place in sorted(found)}


def read_stories(text: str, name: str) -> list[Story]:
    """The stories of a file, word by word; ``name`` is for complaints."""
    stories: list[Story] = []
    for line in _lines(text, name):
        if line.number == 1:
            stories.append(Story(words=[], asked=[]))
        stories[-1].words.extend([*line.words, *(ANSWER for _ in line.answer)])
        stories[-1].asked.extend([*(None for _ in line.words), *line.answer])
    return _not_empty([story for story in stories if any(story.asked)], name)


def read_sentences(text: str, name: str) -> list[Tale]:
    """The stories of a file, as sentences and questions; ``name`` is for complaints."""
    tales: list[Tale] = []
    places: dict[int, int] = {}  # of the sentences, by the numbers of their lines
    for line in _lines(text, name):
        if line.number == 1:
            tales.append(Tale(sentences=[], questions=[]))
            places = {}
        tale, words = tales[-1], _without_marks(line.words)
        if not line.answer:
            places[line.number] = len(tale.sentences)
            tale.sentences.append(words)
            continue
        facts = [places[number] for number in line.facts if number in places]
        answer = ",".join(line.answer)
        tale.questions.append(Question(words=words, answer=answer, told=len(tale.sentences), facts=facts))
    return _not_empty([tale for tale in tales if tale.questions], name)


class _Line(NamedTuple):
    number: int
    words: tuple[str, ...]
    answer: list[str]  # none: it is no question
    facts: list[int]


def _lines(text: str, name: str) -> Iterator[_Line]:
    begun = False
    for count, line in enumerate(text.splitlines(), start=1):
        number, _, rest = line.partition(" ")
        sentence, *answered = rest.split("\t")
        words = _words(sentence)
        answer = answered[0].lower().split(",") if answered else []
        facts = answered[1].split() if len(answered) > 1 else []
        known = _whole(number) and words and all(answer) and all(map(_whole, facts))
        if not known or (number != "1" and not begun):
            raise UserError(f"{name} line {count} is not a number and a sentence, with an answer after a question")
        begun = True
        yield _Line(int(number), words, answer, [int(fact) for fact in facts])


def _whole(text: str) -> bool:
    return text.isdecimal() and len(text) <= MOST_DIGITS


@cache  # the 800,000 sentences of all tasks are a few thousand
def _words(sentence: str) -> tuple[str, ...]:
    return tuple(WORD.findall(sentence.lower()))


@cache
def _without_marks(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in words if not MARK.fullmatch(word))


def _not_empty(stories: list[T], name: str) -> list[T]:
    if not stories:
        raise UserError(f"{name} has no story with a question in it")
    return stories


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
