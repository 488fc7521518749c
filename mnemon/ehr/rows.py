"""Rows of csv in blocks, each with its line in the file; what is no row is counted, not lost.

A csv reader in a hurry fills short rows with nothing, cuts long ones and reads on past a quote that is never closed.
Here the marks of a block of the file are looked at first: a row must have as many fields as the header, quotes that
match and text in UTF-8. Only such rows are given on, so that whatever parses them gets one row for each line number. A
file of any size needs the memory of a block.

Letters: ``B`` bytes of a block, ``R`` rows.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int64, UInt8

from mnemon.data.files import open_bytes
from mnemon.data.notes import Notes
from mnemon.errors import UserError

BLOCK = 1 << 24
LONGEST_ROW = 1 << 20  # a row that goes on for longer has a quote that is never closed
MOST_STRAY_QUOTES = 1000  # each makes the rest of a block be looked at again
NEWLINE, COMMA, QUOTE = b'\n,"'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Rows(NamedTuple):
    """Some rows of a file."""

    text: bytes  # each ends with a newline and has as many fields as the header
    lines: Int64[np.ndarray, "R"]  # the line each begins on


class _Marks(NamedTuple):
    """Where the rows of a block end, and what is in them."""

    ends: Int64[np.ndarray, "R"]  # positions of the newlines outside quotes
    fields: Int64[np.ndarray, "R"]
    newlines: Int64[np.ndarray, "L"]  # those within quotes too
    stray: int | None  # position of the first quote in a place where none can be


def read_header(path: Path) -> list[str]:
    """The names of the columns."""
    with open_bytes(path) as file:
        first = file.readline(LONGEST_ROW).removeprefix(BYTE_ORDER_MARK).strip()
    try:
        names = [name.strip().strip('"').strip() for name in first.decode().split(",")]
    except UnicodeDecodeError as error:
        raise UserError(f"{path} does not begin with a header: it is not UTF-8 text") from error
    if not first:
        raise UserError(f"{path} is empty: a csv file with a header is expected")
    return names


def read_rows(path: Path, notes: Notes, block: int = BLOCK) -> Iterator[Rows]:
    """The rows below the header. A file that stops in the middle of a row is refused."""
    width = len(read_header(path))
    reader = _Reader(path, width, notes)
    try:
        with open_bytes(path) as file:
            while piece := file.read(block):
                yield from reader.take(piece)
        yield from reader.finish()
    except UserError as error:
        if isinstance(error.__cause__, EOFError):
            raise UserError(f"{path} is cut off: copy the file again") from error
        raise


class _Reader:
    """Cuts a file into rows, whatever the pieces it comes in."""

    def __init__(self, path: Path, width: int, notes: Notes) -> None:
        self.path, self.width, self.notes = path, width, notes
        self.rest = b""  # of a row that has not ended yet
        self.line = 1  # the one the rest begins on
        self.strays = 0

    def take(self, piece: bytes) -> Iterator[Rows]:
        """Rows that end in the next piece of the file."""
        text = self.rest + piece
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        if self.line == 1:
            text = text.removeprefix(BYTE_ORDER_MARK)
        yield from self._rows(text)
        while len(self.rest) > LONGEST_ROW:
            if b"\n" not in self.rest:
                raise UserError(f"{self.path} line {self.line} is longer than {LONGEST_ROW:,} bytes: is it csv?")
            yield from self._rows(self._without_first_line(self.rest))

    def finish(self) -> Iterator[Rows]:
        """What is left at the end of the file: a row without a newline, or lines after a quote never closed."""
        while self.rest:
            text = self.rest if self.rest.endswith(b"\n") else self.rest + b"\n"
            marks = _marks(np.frombuffer(text, np.uint8))
            if len(marks.newlines) == 1 and (not len(marks.ends) or marks.fields[0] != self.width):
                raise UserError(f"{self.path} stops in the middle of line {self.line}: copy the file again")
            yield from self._rows(text if len(marks.ends) else self._without_first_line(text))

    def _rows(self, text: bytes) -> Iterator[Rows]:
        """The rows that end in a text; the rest is kept. A line with a quote where none can be is left out."""
        while True:
            marks = _marks(np.frombuffer(text, np.uint8))
            whole = marks.ends
            if marks.stray is not None:
                whole = whole[whole < marks.stray]
            cut = int(whole[-1]) + 1 if len(whole) else 0
            if cut:
                yield from self._good(text[:cut], marks._replace(ends=whole, fields=marks.fields[: len(whole)]))
            self.line += int(np.searchsorted(marks.newlines, cut))
            text = text[cut:]
            if marks.stray is None or b"\n" not in text:
                self.rest = text
                return
            text = self._without_first_line(text)

    def _without_first_line(self, text: bytes) -> bytes:
        self.strays += 1
        if self.strays > MOST_STRAY_QUOTES:
            raise UserError(f"{self.path} has more than {MOST_STRAY_QUOTES:,} lines with unmatched quotes: is it csv?")
        self.notes.skip("quotes that do not match", self.path.name, np.array([self.line]))
        self.line += 1
        return text[text.index(b"\n") + 1 :]

    def _good(self, text: bytes, marks: _Marks) -> Iterator[Rows]:
        """The rows of whole ones that can be parsed, without the header."""
        starts = np.concatenate([[0], marks.ends[:-1] + 1])
        lines = self.line + np.searchsorted(marks.newlines, starts)
        filled = marks.ends > starts
        wide = marks.fields == self.width
        readable = _readable(text, starts, marks.ends)
        name = self.path.name
        self.notes.skip("more or fewer fields than the header", name, lines[filled & ~wide])
        self.notes.skip("not UTF-8 text", name, lines[filled & wide & ~readable])
        good = filled & wide & readable & (lines > 1)
        if good.any():
            yield Rows(_chosen(text, starts, marks.ends, good), lines[good])


def _marks(text: UInt8[np.ndarray, "B"]) -> _Marks:
    """Look at the marks of a text that begins outside quotes."""
    newline, comma, quote = text == NEWLINE, text == COMMA, text == QUOTE
    newlines = np.flatnonzero(newline)
    stray = None
    if quote.any():
        stray = _first_stray(text, np.flatnonzero(quote))
        outside = np.bitwise_xor.accumulate(quote.view(np.uint8)) == 0
        newline &= outside
        comma &= outside
    ends = np.flatnonzero(newline)
    before = np.searchsorted(np.flatnonzero(comma), ends)
    return _Marks(ends, np.diff(before, prepend=0) + 1, newlines, stray)


def _first_stray(text: UInt8[np.ndarray, "B"], quotes: Int64[np.ndarray, "Q"]) -> int | None:
    """A quote opens at the start of a field and closes at its end; within it, each is written twice."""
    before = np.where(quotes > 0, text[quotes - 1], NEWLINE)
    after = np.where(quotes + 1 < len(text), text[np.minimum(quotes + 1, len(text) - 1)], NEWLINE)
    opens = np.arange(len(quotes)) % 2 == 0
    beside = np.where(opens, before, after)
    doubled = np.diff(quotes, append=-1) == 1  # the next follows at once
    inner = np.where(opens, np.concatenate([[False], doubled[:-1]]), doubled)
    wrong = np.flatnonzero((beside != COMMA) & (beside != NEWLINE) & ~inner)
    return int(quotes[wrong[0]]) if len(wrong) else None


def _readable(text: bytes, starts: Int64[np.ndarray, "R"], ends: Int64[np.ndarray, "R"]) -> Bool[np.ndarray, "R"]:
    """Which rows are UTF-8. Most files are ASCII, which is quick to see."""
    readable = np.ones(len(ends), dtype=bool)
    if text.isascii() or _is_utf8(text):
        return readable
    beyond_ascii = np.flatnonzero(np.frombuffer(text, np.uint8) > 127)
    for row in np.unique(np.searchsorted(ends, beyond_ascii)).tolist():
        readable[row] = _is_utf8(text[int(starts[row]) : int(ends[row])])
    return readable


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _chosen(
    text: bytes, starts: Int64[np.ndarray, "R"], ends: Int64[np.ndarray, "R"], good: Bool[np.ndarray, "R"]
) -> bytes:
    """The good rows, one after the other; those side by side are taken in one slice."""
    if good.all():
        return text
    steps = np.diff(good.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
    return b"".join(text[starts[one] : ends[two] + 1] for one, two in zip(first, last, strict=True))
