"""Conversations as pairs: what was said before, and what was said then (thesis, appendix of chapter 5).

The context of a response is all the chat before it, of which the last words are kept; of the response, the first.
What cannot be read is counted, and its first places are told (:mod:`mnemon.data.notes`): nothing is lost in silence.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mnemon.data.files import open_bytes
from mnemon.data.notes import Notes
from mnemon.data.words import split_utterance

NOT_TEXT = "lines that are not text in UTF-8"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Pair(NamedTuple):
    """Words of a context, which may be none, and of the response to it, which has some."""

    context: tuple[str, ...]
    response: tuple[str, ...]


class Lengths(NamedTuple):
    """How many words are kept."""

    context: int = 20  # the last
    response: int = 10  # the first


Conversation = list[Pair]


def pairs_of_turns(turns: Sequence[str], lengths: Lengths, notes: Notes, place: str) -> Conversation:
    """Each turn after the first as a response to those before it. One without words is none, and is counted."""
    before: list[str] = []
    pairs = []
    for number, turn in enumerate(turns):
        words = split_utterance(turn)
        if not words:
            notes.notice_at("turns without words", place)
        elif number:
            pairs.append(Pair(tuple(before[-lengths.context :]), tuple(words[: lengths.response])))
        before = [*before[-lengths.context :], *words]
    if not pairs:
        notes.notice_at("conversations without a response", place)
    return pairs


def text_lines(path: Path, notes: Notes, *, otherwise: str | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, from 1 on, without their ends.

    One that is not UTF-8 is read with the encoding ``otherwise`` or, where there is none, left out and counted.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            try:
                yield number, line.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                if otherwise is None:
                    notes.skip_at(NOT_TEXT, f"{path} line {number}")
                else:
                    yield number, line.decode(otherwise).rstrip("\r\n")
