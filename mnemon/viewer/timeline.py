"""The steps of a page, and when each cell of a model took its own.

A model of one cell takes the steps of its sequence. An encoder-decoder first reads its views beside each other, or one
after the other where one encoder reads them all, and then answers; with several visits it does so for each of them.
Each cell has recorded its steps without saying when: the timeline tells.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.viewer.panel import Clock

ENCODER_VIEW = re.compile(r"(?:^|\.)encoder\.views\.(\d+)\.")


class Timeline(NamedTuple):
    """How many steps there are, and which stretches of them belong to what."""

    steps: int
    views: list[Clock]  # of each view, where there are any
    answer: Clock
    cells: dict[str, Clock]


def of_steps(steps: int, cells: Mapping[str, int]) -> Timeline:
    """All cells step together, each as far as it goes."""
    whole: Clock = [(0, steps)]
    return Timeline(steps, [], whole, {name: [(0, min(taken, steps))] for name, taken in cells.items()})


def of_visits(batch: Batch, row: int, cells: Mapping[str, int]) -> Timeline:
    """For each visit the views, then the answer."""
    assert batch.visits is not None
    if batch.mask.shape[1] > 1:
        raise UserError("views end at different steps: show a batch of one sequence, as batch.every(size, row) gives")
    counts = [[int(own[row]) for own in visit.lengths] for visit in batch.visits]
    in_a_row = len(counts[0]) > 1 and _reads_all(cells, sum(map(sum, counts)))
    asked = len(batch.mask) // len(counts)
    views: list[Clock] = [[] for _ in counts[0]]
    answer: Clock = []
    reading: Clock = []
    now = 0
    for visit in counts:
        begun = now
        for clock, count in zip(views, visit, strict=True):
            clock.append((now if in_a_row else begun, count))
            now += count if in_a_row else 0
        now = begun + (sum(visit) if in_a_row else max(visit))
        reading.append((begun, now - begun))
        answer.append((now, asked))
        now += asked
    found: dict[str, Clock] = {}
    for name in cells:
        view = ENCODER_VIEW.search(name)
        found[name] = answer if view is None else reading if in_a_row else views[int(view[1])]
    return Timeline(now, views, answer, found)


def _reads_all(cells: Mapping[str, int], words: int) -> bool:
    """Whether one encoder took the steps of all views."""
    return [taken for name, taken in cells.items() if ENCODER_VIEW.search(name)] == [words]


def steps_of(clock: Clock) -> list[int]:
    """The steps of the page, one by one."""
    return [step for first, count in clock for step in range(first, first + count)]
