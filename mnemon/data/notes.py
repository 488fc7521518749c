"""What was odd in the files: how often, and where first. Nothing is left out in silence.

A note names a file and a line, never what stands there: that may be a patient's number, or what somebody said.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Integer

EXAMPLES = 3  # places shown for each reason


@dataclass(kw_only=True)
class Note:
    """How often something was met, and the first places."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, count: int, places: list[str]) -> None:
        """Count more of it; places are kept while there are few."""
        self.count += count
        self.examples += places[: EXAMPLES - len(self.examples)]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"count": self.count, "first": self.examples}


@dataclass(kw_only=True)
class Notes:
    """Rows that were skipped, and rows that were kept though something about them is odd."""

    skipped: dict[str, Note] = field(default_factory=dict)
    noticed: dict[str, Note] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)  # their numbers stand in the tables, beside the lines

    def number_of(self, file: str) -> int:
        """The number of a file; a new one gets the next."""
        if file not in self.files:
            self.files.append(file)
        return self.files.index(file)

    def skip(self, reason: str, file: str, lines: Integer[np.ndarray, "rows"]) -> None:
        """Rows of a file that are left out."""
        _add(self.skipped, reason, len(lines), [f"{file} line {line}" for line in lines[:EXAMPLES].tolist()])

    def skip_at(self, reason: str, place: str) -> None:
        """Something that is left out, by its place, such as ``lines.txt line 3``."""
        _add(self.skipped, reason, 1, [place])

    def notice_at(self, reason: str, place: str) -> None:
        """Something that is as it should not quite be, and no mistake."""
        _add(self.noticed, reason, 1, [place])

    def complaint(self) -> str | None:
        """What was left out, in one line; None: nothing."""
        told = [
            f"{note.count:,} {reason} ({', '.join(note.examples)}{', …' if note.count > len(note.examples) else ''})"
            for reason, note in self.skipped.items()
        ]
        return f"left out: {'; '.join(told)}" if told else None

    def skip_in(
        self, reason: str, files: Integer[np.ndarray, "rows"], lines: Integer[np.ndarray, "rows"], *, kept: bool = False
    ) -> None:
        """Rows of several files, told by their numbers."""
        first = zip(files[:EXAMPLES].tolist(), lines[:EXAMPLES].tolist(), strict=True)
        places = [f"{self.files[file]} line {line}" for file, line in first]
        _add(self.noticed if kept else self.skipped, reason, len(lines), places)

    def document(self) -> dict[str, Any]:
        """As JSON: the most frequent first."""
        return {
            kind: {reason: note.document() for reason, note in sorted(notes.items(), key=lambda item: -item[1].count)}
            for kind, notes in (("skipped", self.skipped), ("noticed", self.noticed))
        }


def _add(notes: dict[str, Note], reason: str, count: int, places: list[str]) -> None:
    if count:
        notes.setdefault(reason, Note()).add(count, places)
