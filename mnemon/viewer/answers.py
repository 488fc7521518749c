"""What a model was asked for, and what it answered: as panels, and in words.

Letters: ``T`` steps of the answers, ``O`` output channels.

Bits become a row for each channel, classes and words a text at each step, numbers lines. A wrong answer is marked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mnemon.tasks.base import Batch, Task
from mnemon.tasks.scoring import wrong_bits, wrong_classes
from mnemon.tasks.sinusoid import Sinusoid
from mnemon.viewer.naming import asks_bits, name_of
from mnemon.viewer.panel import Clock, Heat, Lines, Panel, Tokens
from mnemon.viewer.timeline import steps_of

MOST_CHANNELS = 48  # of more, those that are neither asked for nor answered are left out


class Answer(NamedTuple):
    """At a step of the page, what was right, and what was said."""

    step: int
    right: str
    said: str
    wrong: bool


class Answers(NamedTuple):
    """All answers of a row."""

    panels: list[Panel]
    in_words: list[Answer]


class Row(NamedTuple):
    """One row of a batch, of what is asked for and said, as far as the clock goes."""

    asked: Bool[Tensor, "T"]
    targets: Float[Tensor, "T O"]
    said: Float[Tensor, "T O"]
    clock: Clock
    names: Sequence[str]

    def words(self, right: Sequence[str], said: Sequence[str], wrong: Sequence[bool]) -> list[Answer]:
        """An answer for each step at which one is asked."""
        every = zip(steps_of(self.clock), right, said, wrong, self.asked.tolist(), strict=True)
        return [Answer(*each[:-1]) for each in every if each[-1]]

    def where_asked(self, values: Float[Tensor, "T O"]) -> Float[Tensor, "T O"]:
        """Blank at all other steps."""
        return values.masked_fill(~self.asked.unsqueeze(1), torch.nan)


def answers_of(
    task: Task, batch: Batch, row: int, output: Float[Tensor, "_ B O"], clock: Clock, names: Sequence[str]
) -> Answers:
    """The answers to one row of a task's batch, as the task counts them."""
    steps = sum(count for _, count in clock)
    own = Row(batch.mask[:steps, row] > 0, batch.targets[:steps, row], output[:steps, row], clock, names)
    if isinstance(task, Sinusoid):
        return _numbers(own)
    if asks_bits(task):
        return _bits(own, wrong_bits(output, batch)[:steps, row])
    return _classes(own, wrong_classes(output, batch)[:steps, row].tolist())


def _classes(row: Row, wrong: list[bool]) -> Answers:
    right, said = (
        [name_of(number, row.names) for number in values.argmax(-1).tolist()] for values in (row.targets, row.said)
    )
    shown, told = (
        [text if asked else "" for text, asked in zip(texts, row.asked.tolist(), strict=True)]
        for texts in (right, said)
    )
    panels: list[Panel] = [
        Tokens(title="Target", texts=shown, clock=row.clock),
        Tokens(title="Prediction", note="× marks a wrong answer.", texts=told, wrong=wrong, clock=row.clock),
    ]
    return Answers(panels, row.words(right, said, wrong))


def _bits(row: Row, wrong: Bool[Tensor, "T O"]) -> Answers:
    kept = torch.arange(row.targets.shape[1])
    if len(kept) > MOST_CHANNELS:
        kept = ((row.targets > 0) | (row.said > 0)).any(0).nonzero().flatten()
    names = [name_of(number, row.names) for number in kept.tolist()]
    right, said = row.where_asked(row.targets)[:, kept], row.where_asked(row.said.sigmoid())[:, kept]
    note = "Shades are probabilities; × marks a wrong bit."
    panels: list[Panel] = [
        Heat(title="Target", rows="channel", names=names, values=right, ends=(0.0, 1.0), clock=row.clock),
        Heat(
            title="Prediction",
            note=note,
            rows="channel",
            names=names,
            values=said,
            wrong=wrong[:, kept],
            ends=(0.0, 1.0),
            clock=row.clock,
        ),
    ]
    return Answers(panels, row.words(_spell(row.targets > 0.5), _spell(row.said > 0), wrong.any(1).tolist()))


def _spell(bits: Bool[Tensor, "T O"]) -> list[str]:
    """Bits as digits, where they are few."""
    if bits.shape[1] > MOST_CHANNELS:
        return [""] * len(bits)
    return ["".join(map(str, step)) for step in bits.int().tolist()]


def _numbers(row: Row) -> Answers:
    values = torch.cat([row.where_asked(row.targets), row.where_asked(row.said)], dim=1)
    channels = [f" {number}" for number in range(1, 1 + row.targets.shape[1])] if row.targets.shape[1] > 1 else [""]
    names = [f"{what}{channel}" for what in ("target", "prediction") for channel in channels]
    right, said = (
        [", ".join(f"{number:.2f}" for number in step) for step in values.tolist()]
        for values in (row.targets, row.said)
    )
    panel = Lines(title="Target and prediction", names=names, values=values, clock=row.clock)
    return Answers([panel], row.words(right, said, [False] * len(right)))
