"""Labels of a user's own sequences (:mod:`mnemon.data.sequences`): at every row that has one, or at the last alone.

The folder has ``train.csv`` and, if there is one, ``test.csv``; without it every fifth sequence of ``train.csv`` is
kept for testing. Every tenth of the others, from two on, is held out for validation.

Letters: ``B`` batch, ``T`` time, ``I`` inputs, ``O`` classes.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import one_hot
from torch.nn.utils.rnn import pad_sequence

from mnemon.data.files import find_file
from mnemon.data.sequences import Encoded, Encoding, classes_of, encode, encoding_of, read_table
from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import LabelledTask, Splits
from mnemon.tasks.rendering import LEVELS

TESTED, HELD_OUT = 5, 10  # one sequence of so many
FEWEST = 3  # sequences, one of each part


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnSequences(LabelledTask):
    """Show the rows of a sequence; ask for a class where one is written."""

    sequences: list[Encoded]
    encoding: Encoding

    @property
    def size(self) -> int:
        """How many sequences there are."""
        return len(self.sequences)

    @property
    def input_size(self) -> int:
        """The channels of a row, I."""
        return len(self.encoding.channels)

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The sequences with these numbers."""
        chosen = [self.sequences[row] for row in rows.tolist()]
        labels = pad_sequence([each.labels for each in chosen], padding_value=-1)
        asked = labels >= 0
        return Batch(
            pad_sequence([each.inputs for each in chosen]),
            one_hot(labels.clamp_min(0), len(self.classes)).float() * asked.unsqueeze(-1),
            asked.float(),
            torch.tensor([len(each.labels) for each in chosen]),
        )

    def render_input(self, batch: Batch, row: int) -> str:
        """A line for each column, a character for each step: its level, or the first of its entry."""
        assert batch.lengths is not None
        values = batch.inputs[: int(batch.lengths[row]), row]
        widest = max(len(column.name) for column in self.encoding.columns)
        lines, first = [], 0
        for column in self.encoding.columns:
            own = values[:, first : first + len(column.channels)]
            first += len(column.channels)
            lines.append(f"{column.name:<{widest}}  {''.join(_characters(column.entries, own))}")
        return "\n".join(lines)


def _characters(entries: tuple[str, ...] | None, values: Tensor) -> list[str]:
    if entries is not None:
        return [entries[int(each.argmax())][0] if bool(each.any()) else "·" for each in values]
    low, high = float(values.min()), float(values.max())
    steps = (values[:, 0] - low) / ((high - low) or 1.0) * (len(LEVELS) - 1)
    return [LEVELS[int(step)] for step in steps.round()]


def own_sequences(data: Path) -> Splits:
    """The sequences of a folder."""
    table = read_table(find_file(data, "train.csv", what="your sequences"))
    tested = next((read_table(path) for path in (data / "test.csv", data / "test.csv.gz") if path.is_file()), None)
    shown = table.sequences
    if tested is None:
        tested = table._replace(sequences=shown[TESTED - 1 :: TESTED] or shown[-1:])
        shown = [steps for steps in shown if all(steps is not kept for kept in tested.sequences)]
    held_out = shown[1::HELD_OUT]
    shown = [steps for number, steps in enumerate(shown) if number % HELD_OUT != 1]
    if not (shown and held_out):
        raise UserError(f"{table.path} has {len(table.sequences)} sequences: write {FEWEST} or more")
    encoding = encoding_of(table._replace(sequences=shown), classes=classes_of(table))
    train, validation, test = (
        OwnSequences(classes=encoding.classes, encoding=encoding, sequences=encode(part, encoding))
        for part in (table._replace(sequences=shown), table._replace(sequences=held_out), tested)
    )
    return Splits(train, validation, test)
