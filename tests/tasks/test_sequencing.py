import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import TASKS, AssociativeRecall, Copy, PrioritySort, RepeatCopy, Sequencing
from mnemon.tasks.answering import AnsweringTask

PARTS: dict[str, AnsweringTask] = {
    "C": Copy(bits=3, min_length=1, max_length=3),
    "RC": RepeatCopy(bits=2, min_length=1, max_length=2, min_repeats=1, max_repeats=3, count_range=(1, 3)),
    "AR": AssociativeRecall(bits=3, item_length=2, min_items=2, max_items=3),
    "PS": PrioritySort(bits=4, items=4, sorted_items=3),
}
COMBINATIONS = [names for count in (2, 3, 4) for names in itertools.combinations(PARTS, count)]


@pytest.mark.parametrize(
    ("task", "sizes"),
    [
        ("copy-and-repeat-copy", (10, 9)),
        ("copy-and-associative-recall", (10, 8)),
        ("copy-and-priority-sort", (10, 8)),
        ("four-in-sequence", (10, 9)),
    ],
)
def test_channels_are_those_of_the_thesis(task: str, sizes: tuple[int, int]) -> None:
    entry = TASKS[task]
    for found in (entry.train, *entry.tests.values()):
        assert (found.input_size, found.output_size) == sizes


@given(st.sampled_from(COMBINATIONS), st.integers(1, 3), st.integers(0, 1000))
def test_against_a_loop(names: tuple[str, ...], rows: int, seed: int) -> None:
    """The parts are drawn again from the same generator, and laid out step by step."""
    parts = tuple(PARTS[name] for name in names)
    task = Sequencing(parts=parts)
    batch = task.sample(rows, torch.Generator().manual_seed(seed))

    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(parts), generator=generator).tolist()
    drawn = [parts[number].sample(rows, generator) for number in order]
    inputs, targets, mask = (
        torch.zeros_like(batch.inputs),
        torch.zeros_like(batch.targets),
        torch.zeros_like(batch.mask),
    )
    for place, number in enumerate(order):
        inputs[0, :, number] = (place + 1) / len(parts)
    step, subtasks = 1, [-1]
    for number, part in zip(order, drawn, strict=True):
        for t in range(len(part.inputs)):
            if part.mask[t, 0] == 0:
                inputs[step, :, : part.inputs.shape[-1]] = part.inputs[t]
                subtasks.append(number)
                step += 1
    for number, part in zip(order, drawn, strict=True):
        for t in range(len(part.inputs)):
            if part.mask[t, 0] == 1:
                targets[step, :, : part.targets.shape[-1]] = part.targets[t]
                mask[step] = 1
                subtasks.append(number)
                step += 1
    assert step == len(batch.inputs)
    assert torch.equal(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)
    assert batch.subtasks is not None
    assert batch.subtasks.tolist() == subtasks


def test_every_order_is_drawn_and_shown() -> None:
    task = Sequencing(parts=tuple(PARTS.values()))
    generator = torch.Generator().manual_seed(0)
    shown = {tuple(task.sample(1, generator).inputs[0, 0, :4].tolist()) for _ in range(300)}
    assert shown == set(itertools.permutations((0.25, 0.5, 0.75, 1.0)))


def test_names_of_channels_and_rendering() -> None:
    task = Sequencing(parts=(Copy(bits=1), RepeatCopy(bits=1)))
    assert task.names == ("copy", "repeat copy")
    assert task.input_channels == ("bit 1", "start/delimiter", "end/count")
    assert task.output_channels == ("bit 1", "end")
    assert Sequencing(parts=(*task.parts, Copy(bits=1))).names == ("copy 1", "repeat copy", "copy 3")
    batch = task.sample(1, torch.Generator().manual_seed(0))
    assert "end/count" in task.render(batch, 0, batch.targets)


def test_settings() -> None:
    with pytest.raises(UserError, match=r"^Sequencing has 1 parts: write two or more$"):
        Sequencing(parts=(Copy(),))
    with pytest.raises(UserError, match=r"^Sequencing has 4 parts: write 3 or fewer, one a channel$"):
        Sequencing(parts=(Copy(bits=1),) * 4)
