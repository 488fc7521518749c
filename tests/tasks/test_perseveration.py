"""Answers that belong to another sub-task, counted and by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mnemon.tasks import Batch, Copy, RepeatCopy, Sequencing
from mnemon.tasks.perseveration import answered_as

TASK = Sequencing(
    parts=(
        Copy(bits=2, min_length=1, max_length=3),
        RepeatCopy(bits=2, min_length=1, max_length=2, min_repeats=1, max_repeats=3, count_range=(1, 3)),
    )
)


def counted_in_a_loop(subtask: int, output: Tensor, batch: Batch) -> float:
    assert batch.subtasks is not None
    asked = [step for step in range(len(output)) if batch.mask[step, 0] == 1]
    found = []
    for step in asked:
        if batch.subtasks[step] != subtask:
            for row in range(output.shape[1]):
                given = [int(logit > 0) for logit in output[step, row]]
                own = [batch.targets[other, row].tolist() for other in asked if batch.subtasks[other] == subtask]
                found.append(given != batch.targets[step, row].tolist() and given in own)
    return sum(found) / len(found)


@given(st.integers(1, 3), st.integers(0, 1000), st.sampled_from([0, 1]))
def test_against_a_loop(rows: int, seed: int, subtask: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    batch = TASK.sample(rows, generator)
    output = torch.randn(batch.targets.shape, generator=generator)
    assert answered_as(subtask, output, batch) == pytest.approx(counted_in_a_loop(subtask, output, batch))


def sequence(*targets: list[int]) -> Batch:
    """A prompt of one step, two steps asked by sub-task 0 and two by sub-task 1."""
    answers = torch.tensor([[0, 0], *targets]).float().unsqueeze(1)
    mask = torch.tensor([0.0, 1.0, 1.0, 1.0, 1.0]).unsqueeze(1)
    return Batch(torch.zeros(5, 1, 2), answers, mask, subtasks=torch.tensor([-1, 0, 0, 1, 1]))


def logits(*answers: list[int]) -> Tensor:
    return 2 * torch.tensor([[1, 1], *answers]).float().unsqueeze(1) - 1


@pytest.mark.parametrize(
    ("given", "as_first", "as_second"),
    [
        (([0, 1], [1, 0], [1, 1], [0, 0]), 0.0, 0.0),  # all right
        (([0, 1], [1, 0], [0, 1], [1, 0]), 1.0, 0.0),  # the first, over and over
        (([0, 1], [1, 0], [1, 0], [1, 0]), 1.0, 0.0),  # a step of it is enough
        (([1, 1], [0, 0], [1, 1], [0, 0]), 0.0, 1.0),  # the second all along
        (([1, 1], [0, 0], [0, 1], [1, 0]), 1.0, 1.0),  # each in place of the other
        (([0, 1], [0, 0], [1, 1], [0, 1]), 0.5, 0.5),
    ],
)
def test_by_hand(given: tuple[list[int], ...], as_first: float, as_second: float) -> None:
    batch = sequence([0, 1], [1, 0], [1, 1], [0, 0])
    output = logits(*given)
    assert (answered_as(0, output, batch), answered_as(1, output, batch)) == (as_first, as_second)


def test_an_answer_that_both_share_is_right() -> None:
    batch = sequence([0, 1], [0, 1], [0, 1], [0, 1])
    assert answered_as(0, logits([0, 1], [0, 1], [0, 1], [0, 1]), batch) == 0.0


def test_metrics_have_every_part() -> None:
    batch = TASK.sample(2, torch.Generator().manual_seed(0))
    metrics = TASK.metrics(batch.targets - 0.5, batch)
    assert metrics == {
        "bit_errors": 0.0,
        "bit_accuracy": 1.0,
        "answered_as_copy": 0.0,
        "answered_as_repeat_copy": 0.0,
    }
