"""When cells took their steps."""

import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.viewer.timeline import of_steps, of_visits, steps_of
from mnemon.views import Visit

FIRST, SECOND, DECODER = "encoder.views.0.rnn.cell", "encoder.views.1.rnn.cell", "decoders.0.rnn.cell"


def visits(*lengths: tuple[int, int], asked: int = 2) -> Batch:
    """A row with two views in each visit, and so many steps of answer."""
    made = [
        Visit(
            tuple(torch.zeros(own, 1, dtype=torch.int64) for own in visit), tuple(torch.tensor([own]) for own in visit)
        )
        for visit in lengths
    ]
    steps = asked * len(made)
    return Batch(torch.zeros(steps, 1, 0), torch.zeros(steps, 1, 3), torch.ones(steps, 1), visits=tuple(made))


def test_cells_of_one_sequence_step_together() -> None:
    timeline = of_steps(5, {"cell": 7, "other": 3})
    assert (timeline.steps, timeline.answer) == (5, [(0, 5)])
    assert timeline.cells == {"cell": [(0, 5)], "other": [(0, 3)]}


def test_views_are_read_beside_each_other_then_answered() -> None:
    timeline = of_visits(visits((4, 3), (2, 5)), 0, {FIRST: 6, SECOND: 8, DECODER: 4})
    assert timeline.steps == 4 + 2 + 5 + 2
    assert timeline.cells[FIRST] == [(0, 4), (6, 2)]
    assert timeline.cells[SECOND] == [(0, 3), (6, 5)]
    assert timeline.cells[DECODER] == timeline.answer == [(4, 2), (11, 2)]
    assert steps_of(timeline.cells[SECOND]) == [0, 1, 2, 6, 7, 8, 9, 10]


def test_one_encoder_reads_the_views_in_a_row() -> None:
    timeline = of_visits(visits((4, 3)), 0, {f"model.{FIRST}": 7, f"model.{DECODER}": 2})
    assert timeline.views == [[(0, 4)], [(4, 3)]]
    assert timeline.cells == {f"model.{FIRST}": [(0, 7)], f"model.{DECODER}": [(7, 2)]}


def test_batches_of_views_are_shown_one_row_at_a_time() -> None:
    batch = visits((4, 3))
    with pytest.raises(UserError, match="show a batch of one sequence"):
        of_visits(batch.repeat(2), 0, {})
