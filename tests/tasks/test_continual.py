import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import TASKS, ChangingTask, Continual, Copy, PrioritySort, Widened

PARTS = tuple(Widened(task=Copy(bits=2, max_length=length), input_size=5, output_size=4) for length in (1, 2, 3))


@given(st.integers(1, 5), st.integers(1, 200))
def test_parts_have_equal_shares_in_turn(count: int, steps: int) -> None:
    parts = tuple(Widened(task=Copy(max_length=length + 1), input_size=10, output_size=8) for length in range(count))
    task = Continual(parts=parts)
    taken = [parts.index(task.at(step, steps)) for step in range(1, steps + 1)]
    assert taken == sorted(taken)
    sizes = [taken.count(number) for number in range(count)]
    assert max(sizes) - min(sizes) <= 1
    if steps % count == 0:
        expected = [number for number in range(count) for _ in range(steps // count)]
        assert taken == expected


def test_the_thesis_has_20_000_steps_each() -> None:
    task = TASKS["continual"].train
    assert isinstance(task, ChangingTask)
    tests = list(TASKS["continual"].tests.values())
    for number in range(4):
        assert task.at(20_000 * number + 1, 80_000) is task.at(20_000 * (number + 1), 80_000)
        assert task.at(20_000 * number + 1, 80_000) == tests[number]
    assert (task.input_size, task.output_size) == (10, 9)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3), st.integers(0, 100))
def test_widened_against_the_task_itself(more_in: int, more_out: int, rows: int, seed: int) -> None:
    task = PrioritySort(bits=2, items=3, sorted_items=2)
    wide = Widened(task=task, input_size=3 + more_in, output_size=2 + more_out)
    narrow_batch = task.sample(rows, torch.Generator().manual_seed(seed))
    batch = wide.sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape[-1] == wide.input_size
    assert batch.targets.shape[-1] == wide.output_size
    assert torch.equal(batch.inputs[..., :3], narrow_batch.inputs)
    assert torch.equal(batch.targets[..., :2], narrow_batch.targets)
    assert not batch.inputs[..., 3:].any()
    assert not batch.targets[..., 2:].any()
    output = torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(seed))
    own = output[..., :2]
    assert torch.equal(wide.loss(output, batch), task.loss(own, narrow_batch))
    assert wide.metrics(output, batch) == task.metrics(own, narrow_batch)
    assert wide.render(batch, 0, output) == task.render(narrow_batch, 0, own)


def test_without_a_step_it_is_the_first_part() -> None:
    task = Continual(parts=PARTS)
    batch = task.sample(2, torch.Generator().manual_seed(0))
    first = PARTS[0].sample(2, torch.Generator().manual_seed(0))
    assert torch.equal(batch.inputs, first.inputs)
    output = torch.randn(batch.targets.shape)
    assert torch.equal(task.loss(output, batch), PARTS[0].loss(output, batch))
    assert task.metrics(output, batch) == PARTS[0].metrics(output, batch)
    assert task.render(batch) == PARTS[0].render(batch)


def test_settings() -> None:
    with pytest.raises(UserError, match=r"^Widened\(input_size=9\): write input_size=10 or more$"):
        Widened(task=Copy(), input_size=9, output_size=9)
    with pytest.raises(UserError, match=r"^Widened\(output_size=7\): write output_size=8 or more$"):
        Widened(task=Copy(), input_size=10, output_size=7)
    with pytest.raises(UserError, match="Continual has no parts"):
        Continual(parts=())
    with pytest.raises(UserError, match="differ in their channels"):
        Continual(parts=(PARTS[0], dataclasses.replace(PARTS[0], input_size=9)))
