"""What every task promises, whichever it is."""

import random
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields

import pytest
import torch
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks import (
    TASKS,
    Add,
    AssociativeRecall,
    Batch,
    Brackets,
    Continual,
    Copy,
    DynamicNGrams,
    Max,
    MultiQueryRecall,
    PrioritySort,
    RepeatCopy,
    Sinusoid,
    Task,
    TokenCopy,
    TokenTask,
    Widened,
)

SMALLEST: dict[str, Task] = {
    "copy of one": Copy(bits=1, min_length=1, max_length=1),
    "one repeat": RepeatCopy(bits=1, min_length=1, max_length=1, min_repeats=1, max_repeats=1, count_range=(1, 1)),
    "two items": AssociativeRecall(bits=1, item_length=1, min_items=2, max_items=2),
    "one prediction": DynamicNGrams(order=2, length=2),
    "one item": PrioritySort(bits=1, items=1, sorted_items=1),
    "one token": TokenCopy(length=1, largest=1),
    "one sum": Add(length=2, largest=1),
    "one maximum": Max(length=2, largest=1),
    "one point": Sinusoid(length=1),
    "one pair": Brackets(kinds=1, max_pairs=1),
    "one token or two": TokenCopy(length=2, min_length=1),
}
ALL = {
    **SMALLEST,
    **{f"{name}, training": entry.train for name, entry in TASKS.items()},
    **{f"{name}, {label}": test for name, entry in TASKS.items() for label, test in entry.tests.items()},
}
EVERY = {name: task for name, task in ALL.items() if isinstance(task.input_size, int)}  # others: test_exchanges.py
TOKENS = {name: task for name, task in EVERY.items() if isinstance(task, TokenTask)}
OTHERS = TokenTask | Brackets | MultiQueryRecall | Sinusoid | Widened | Continual
BITS = {name: task for name, task in EVERY.items() if not isinstance(task, OTHERS)}
every_task = pytest.mark.parametrize("task", EVERY.values(), ids=EVERY.keys())
token_tasks = pytest.mark.parametrize("task", TOKENS.values(), ids=TOKENS.keys())
bit_tasks = pytest.mark.parametrize("task", BITS.values(), ids=BITS.keys())


def draw(task: Task, seed: int = 0, batch_size: int = 3) -> Batch:
    return task.sample(batch_size, torch.Generator().manual_seed(seed))


def same(first: Batch, second: Batch) -> bool:
    return all(torch.equal(one, other) for one, other in zip(first[:3], second[:3], strict=True))


def certain(targets: Tensor) -> Tensor:
    return 20 * (2 * targets - 1)


@pytest.fixture
def double_by_default() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@every_task
def test_shapes_follow_the_sizes(task: Task) -> None:
    assert isinstance(task, Task)
    batch = draw(task)
    steps = len(batch.inputs)
    assert batch.inputs.shape == (steps, 3, task.input_size)
    assert batch.targets.shape == (steps, 3, task.output_size)
    assert batch.mask.shape == (steps, 3)
    assert batch.lengths is None


@every_task
def test_something_is_asked_of_every_row(task: Task) -> None:
    batch = draw(task)
    assert set(batch.mask.flatten().tolist()) <= {0.0, 1.0}
    assert bool((batch.mask.sum(0) > 0).all())


@bit_tasks
def test_bits_are_0_or_1(task: Task) -> None:
    assert set(draw(task).targets.flatten().tolist()) <= {0.0, 1.0}


@token_tasks
def test_tokens_are_one_hot(task: Task) -> None:
    batch = draw(task)
    assert set(batch.targets.flatten().tolist()) <= {0.0, 1.0}
    assert torch.equal(batch.targets.sum(-1), batch.mask)
    assert torch.equal(batch.inputs.sum(-1), 1 - batch.mask)


@every_task
def test_a_batch_depends_on_its_generator_only(task: Task) -> None:
    torch.manual_seed(1)
    first = draw(task, seed=7, batch_size=16)
    torch.manual_seed(2)
    torch.rand(5)
    assert same(first, draw(task, seed=7, batch_size=16))


@pytest.mark.parametrize("name", TASKS)
def test_a_generator_moves_on(name: str) -> None:
    generator = torch.Generator().manual_seed(7)
    task = TASKS[name].train
    batches = [task.sample(4, generator).targets for _ in range(4)]
    assert any(batch.shape != batches[0].shape or not torch.equal(batch, batches[0]) for batch in batches[1:])


@pytest.mark.usefixtures("unchecked")  # the checks draw at random which entry of a tuple they look at
@every_task
def test_sampling_leaves_global_randomness_alone(task: Task) -> None:
    before, python_before = torch.get_rng_state(), random.getstate()
    draw(task)
    assert torch.equal(before, torch.get_rng_state())
    assert python_before == random.getstate()


@every_task
@pytest.mark.usefixtures("double_by_default")
def test_a_batch_is_float32_whatever_the_default(task: Task) -> None:
    batch = draw(task)
    assert {batch.inputs.dtype, batch.targets.dtype, batch.mask.dtype} == {torch.float32}


@bit_tasks
def test_perfect_answers(task: Task) -> None:
    batch = draw(task)
    metrics = task.metrics(certain(batch.targets), batch)
    assert (metrics["bit_errors"], metrics["bit_accuracy"]) == (0.0, 1.0)
    assert float(task.loss(certain(batch.targets), batch)) < 1e-6


@bit_tasks
def test_inverted_answers(task: Task) -> None:
    batch = draw(task)
    metrics = task.metrics(-certain(batch.targets), batch)
    asked = float(batch.mask[:, 0].sum()) * task.output_size
    assert (metrics["bit_errors"], metrics["bit_accuracy"]) == (asked, 0.0)
    assert float(task.loss(-certain(batch.targets), batch)) == pytest.approx(20.0)


@bit_tasks
def test_one_wrong_bit(task: Task) -> None:
    batch = draw(task)
    output = certain(batch.targets)
    output[-1, 0, 0] *= -1
    assert task.metrics(output, batch)["bit_errors"] == pytest.approx(1 / 3)


@token_tasks
def test_perfect_and_inverted_tokens(task: Task) -> None:
    batch = draw(task)
    assert task.metrics(certain(batch.targets), batch) == {"accuracy": 1.0}
    assert task.metrics(-certain(batch.targets), batch) == {"accuracy": 0.0}
    assert float(task.loss(certain(batch.targets), batch)) < 1e-6
    assert float(task.loss(-certain(batch.targets), batch)) >= 40


@token_tasks
def test_one_wrong_token(task: Task) -> None:
    batch = draw(task)
    output = certain(batch.targets)
    output[-1, 0] *= -1
    assert task.metrics(output, batch)["accuracy"] == pytest.approx(1 - 1 / float(batch.mask.sum()))


@every_task
def test_steps_that_ask_nothing_do_not_count(task: Task) -> None:
    batch = draw(task)
    output = torch.randn(batch.targets.shape, generator=torch.Generator().manual_seed(1))
    assert not torch.equal(task.loss(output, batch), task.loss(2 * output, batch))
    disturbed = torch.where(batch.mask.unsqueeze(-1) > 0, output, -100 * output)
    assert torch.equal(task.loss(output, batch), task.loss(disturbed, batch))
    assert task.metrics(output, batch) == task.metrics(disturbed, batch)


@every_task
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_outputs_stay_finite(task: Task, size: float) -> None:
    batch = draw(task)
    output = torch.full_like(batch.targets, size, requires_grad=True)
    loss = task.loss(output, batch)
    loss.backward()  # type: ignore[no-untyped-call]
    assert output.grad is not None
    assert bool(loss.isfinite())
    assert bool(output.grad.isfinite().all())
    assert all(abs(value) < float("inf") for value in task.metrics(output.detach(), batch).values())


@bit_tasks
def test_rendering_draws_every_channel(task: Task) -> None:
    batch = draw(task)
    lines = task.render(batch, 2, batch.targets).splitlines()
    assert isinstance(task.input_size, int)
    assert len(lines) == 1 + task.input_size + 2 * task.output_size + 1
    assert lines[0].count("▲") == int(batch.mask[:, 2].sum())


@every_task
def test_rendering_marks_what_is_asked(task: Task) -> None:
    batch = draw(task)
    assert task.render(batch, 2).splitlines()[0].count("▲") == int(batch.mask[:, 2].sum())
    with pytest.raises(UserError, match="row=3 is outside a batch of 3"):
        task.render(batch, 3)


@every_task
def test_settings_are_immutable_and_named(task: Task) -> None:
    first = fields(task)[0].name  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        setattr(task, first, 1)
    with pytest.raises(TypeError):
        type(task)(3)  # type: ignore[call-arg]
