"""Sequences of a user's own in a csv file: a row for each step, the rows of a sequence in their order.

    sequence,pulse,drug,label
    anna,71,aspirin,
    anna,88,,
    anna,64,heparin,stable
    boris,90,heparin,
    boris,97,aspirin,critical

``sequence`` says which rows belong together and ``label`` what is to be said at a row; an empty label asks for nothing.
All other columns are shown to the model. A column of numbers is one channel, brought to mean 0 and s.d. 1 by the
training rows; any other has a channel for each entry that the training rows have. An empty entry, and one that the
training rows do not have, is 0 everywhere.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.data.files import open_text
from mnemon.errors import UserError

SEQUENCE, LABEL = "sequence", "label"
MOST_ENTRIES = 1_000  # different ones of a column; more look like names, of which nothing can be learnt


class Step(NamedTuple):
    """A row of the file."""

    line: int
    entries: tuple[str, ...]  # of the columns that are shown
    label: str


class Table(NamedTuple):
    """A file: its columns, without the two that have a meaning, and the steps of each sequence."""

    path: Path
    columns: tuple[str, ...]
    sequences: list[list[Step]]


class Column(NamedTuple):
    """How the entries of a column become channels."""

    name: str
    entries: tuple[str, ...] | None  # None: they are numbers
    mean: float = 0.0
    sd: float = 1.0

    @property
    def channels(self) -> tuple[str, ...]:
        """Their names."""
        return (self.name,) if self.entries is None else tuple(f"{self.name} {entry}" for entry in self.entries)


class Encoding(NamedTuple):
    """How a row becomes numbers, and a label one of the classes."""

    columns: tuple[Column, ...]
    classes: tuple[str, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of all inputs."""
        return tuple(channel for column in self.columns for channel in column.channels)


class Encoded(NamedTuple):
    """A sequence as numbers; a label of -1 asks for nothing."""

    inputs: Float[Tensor, "T I"]
    labels: Int[Tensor, "T"]


def read_table(path: Path) -> Table:
    """All rows of a file, refusing one whose rows are not as long as its head."""
    with open_text(path) as file:
        try:
            return _read(path, csv.reader(file, strict=True))
        except csv.Error as error:
            raise UserError(f"{path} is not a csv file: {error}") from error


def _read(path: Path, rows: Iterator[list[str]]) -> Table:
    head = [name.strip() for name in next(rows, [])]
    if missing := [name for name in (SEQUENCE, LABEL) if name not in head]:
        raise UserError(f"{path} has no column {missing[0]!r}: its first line must name sequence, label and the inputs")
    if len(set(head)) != len(head):
        raise UserError(f"{path} has two columns of one name: give each its own")
    shown = [place for place, name in enumerate(head) if name not in (SEQUENCE, LABEL)]
    if not shown:
        raise UserError(f"{path} has no inputs: add a column beside sequence and label")
    found: dict[str, list[Step]] = {}
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(head):
            raise UserError(f"{path}, line {line} has {len(row)} entries: write {len(head)}, as its first line has")
        step = Step(line, tuple(row[place].strip() for place in shown), row[head.index(LABEL)].strip())
        found.setdefault(row[head.index(SEQUENCE)], []).append(step)
    unlabelled = [steps[0].line for steps in found.values() if not any(step.label for step in steps)]
    if not found or unlabelled:
        which = f"the sequence of line {unlabelled[0]}" if unlabelled else "the file"
        raise UserError(f"{path}: {which} has no label: write one in the row at which the model shall answer")
    return Table(path, tuple(head[place] for place in shown), list(found.values()))


def classes_of(table: Table) -> tuple[str, ...]:
    """All labels, in the order of their spelling."""
    return tuple(sorted({step.label for steps in table.sequences for step in steps if step.label}))


def encoding_of(table: Table, classes: tuple[str, ...]) -> Encoding:
    """What the training rows say of columns."""
    steps = [step for steps in table.sequences for step in steps]
    columns = tuple(
        _column(table.path, name, [(step.line, step.entries[place]) for step in steps])
        for place, name in enumerate(table.columns)
    )
    return Encoding(columns, classes)


def _column(path: Path, name: str, entries: Sequence[tuple[int, str]]) -> Column:
    given = [(line, entry) for line, entry in entries if entry]
    numbers = [number for _, entry in given if (number := _number(entry)) is not None]
    if 2 * len(numbers) <= len(given):
        different = tuple(sorted({entry for _, entry in given}))
        if len(different) > MOST_ENTRIES:
            raise UserError(
                f"{path}: column {name!r} has {len(different):,} different entries: leave it out, or write numbers"
            )
        return Column(name, different)
    for line, entry in given:
        if _number(entry) is None:
            raise UserError(f"{path}, line {line}: {entry!r} is no number, as column {name!r} has elsewhere")
    mean = math.fsum(numbers) / len(numbers)
    sd = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / len(numbers))
    return Column(name, None, mean, sd or 1.0)


def encode(table: Table, encoding: Encoding) -> list[Encoded]:
    """The sequences of a file as numbers, refusing columns and classes that training has not."""
    wanted = tuple(column.name for column in encoding.columns)
    if table.columns != wanted:
        raise UserError(f"{table.path} has other columns than the training file: write {', '.join(wanted)}")
    classes = {name: number for number, name in enumerate(encoding.classes)} | {"": -1}
    for step in (step for steps in table.sequences for step in steps):
        if step.label not in classes:
            raise UserError(f"{table.path}, line {step.line}: the training file has no label {step.label!r}")
    return [
        Encoded(
            torch.tensor([_values(table.path, step, encoding) for step in steps]),
            torch.tensor([classes[step.label] for step in steps]),
        )
        for steps in table.sequences
    ]


def _values(path: Path, step: Step, encoding: Encoding) -> list[float]:
    values: list[float] = []
    for column, entry in zip(encoding.columns, step.entries, strict=True):
        if column.entries is not None:
            values += [float(entry == known) for known in column.entries]
        elif not entry:
            values.append(0.0)
        elif (number := _number(entry)) is None:
            raise UserError(f"{path}, line {step.line}: {entry!r} is no number, as column {column.name!r} needs")
        else:
            values.append((number - column.mean) / column.sd)
    return values


def _number(entry: str) -> float | None:
    try:
        number = float(entry)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
