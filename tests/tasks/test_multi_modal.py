"""The task of several right answers: its table, and what counts as covered."""

import itertools
import math

import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks import Guided, ModeCoverage, MultiModal
from mnemon.tasks.base import Batch, FiniteTask, PooledTask, Task

TASK = MultiModal(contexts=3, modes=4, length=3, tokens=5, spelling=2, letters=2)


def answered(batch: Batch, answers: list[tuple[int, ...]]) -> torch.Tensor:
    output = torch.zeros_like(batch.targets)
    for row, answer in enumerate(answers):
        for step, token in enumerate((*answer, 0)):
            output[step, row, token] = 1
    return output


def test_answers_to_a_context_differ_at_every_step() -> None:
    for context in range(3):
        answers = TASK.answers(context)
        assert len(answers) == 4
        for first, second in itertools.combinations(answers, 2):
            assert all(1 <= a <= 5 and a != b for a, b in zip(first, second, strict=True))


def test_contexts_may_share_a_pool_of_answers() -> None:
    task = MultiModal(contexts=6, modes=2, length=2, tokens=4, pool=4)
    pool = {answer for context in range(6) for answer in task.answers(context)}
    assert len(pool) <= 4
    assert all(len(set(task.answers(context))) == 2 for context in range(6))
    assert len({tuple(sorted(task.answers(context))) for context in range(6)}) > 1
    for first, second in itertools.combinations(pool, 2):
        assert all(a != b for a, b in zip(first, second, strict=True))


def test_contexts_are_spelt_apart_and_answers_drawn_by_lot() -> None:
    batch = TASK.sample(600, torch.Generator().manual_seed(0))
    assert batch.visits is not None
    said = TASK.said(batch.targets, batch)
    assert all(answer in TASK.answers(context) for context, answer in said)
    for context in range(3):
        counts = [sum(each == (context, answer) for each in said) for answer in TASK.answers(context)]
        assert min(counts) > 25
    assert batch.visits[0].views[0].shape == (3, 600)
    assert len({tuple(row) for row in batch.visits[0].views[0].T.tolist()}) == 3
    other = MultiModal(contexts=3, modes=4, length=3, tokens=5, spelling=2, letters=2, table=1)
    assert other.answers(0) != TASK.answers(0)


def test_metrics_count_any_right_answer() -> None:
    batch = TASK.ask([0, 1, 2], [0, 0, 0])
    assert TASK.metrics(batch.targets, batch) == {"valid": 1.0, "accuracy": 1.0}
    other = answered(batch, [TASK.answers(0)[1], TASK.answers(1)[0], (5, 5, 5, 5)[:3]])
    assert TASK.metrics(other, batch)["valid"] == pytest.approx(2 / 3)
    assert TASK.metrics(other, batch)["accuracy"] < 1


def test_coverage_is_of_all_contexts() -> None:
    test = ModeCoverage(task=TASK, samples=8)
    batches = list(test.examples(5))
    assert sum(batch.mask.shape[1] for batch in batches) == 24
    everything = test.measure([test.pool(batch.targets, batch) for batch in batches])
    assert everything == {"modes_covered": 1.0, "valid": 1.0, "evenness": pytest.approx(1.0)}

    def same(batch: Batch) -> torch.Tensor:
        return answered(batch, [TASK.answers(context)[0] for context, _ in TASK.said(batch.targets, batch)])

    seldom = test.measure([[(0, answer) for answer in TASK.answers(0)[:3] for _ in range(2)] + [(0, (9,)), (0, (9,))]])
    assert seldom["modes_covered"] == pytest.approx(3 / 12)  # of the other contexts nothing came
    rare = test.measure([[(0, TASK.answers(0)[0])] * 7 + [(0, TASK.answers(0)[1])]])
    assert rare["modes_covered"] == pytest.approx(2 / 12)  # once of 8 is half as often as it should be
    one = test.measure([test.pool(same(batch), batch) for batch in batches])
    assert one == {"modes_covered": 0.25, "valid": 1.0, "evenness": 0.0}
    none = test.measure([test.pool(answered(batch, [()] * batch.mask.shape[1]), batch) for batch in batches])
    assert none == {"modes_covered": 0.0, "valid": 0.0, "evenness": 0.0}


def test_evenness_is_an_entropy() -> None:
    task = MultiModal(contexts=1, modes=2, length=1, tokens=2, spelling=1, letters=1)
    first, second = task.answers(0)
    measured = ModeCoverage(task=task).measure([[(0, first)] * 3 + [(0, second)]])
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert measured["evenness"] == pytest.approx(entropy / math.log(2))


def test_what_the_tests_are() -> None:
    coverage, guided = ModeCoverage(task=TASK), Guided(task=TASK)
    assert isinstance(coverage, FiniteTask)
    assert isinstance(coverage, PooledTask)
    assert isinstance(guided, Task)
    batch = guided.sample(2, torch.Generator().manual_seed(0))
    assert guided.metrics(batch.targets, batch)["accuracy"] == 1
    assert guided.loss(batch.targets, batch) == TASK.loss(batch.targets, batch)
    assert guided.render(batch, 0, batch.targets).splitlines()[0].startswith("context")
    assert (guided.input_size, guided.output_size) == (TASK.input_size, 6)


def test_mistakes_are_named() -> None:
    for bad, message in (
        ({"modes": 3, "tokens": 2}, "write tokens=3 or more"),
        ({"modes": 3, "pool": 2}, "write pool=3 or more"),
        ({"modes": 3, "tokens": 5, "pool": 6}, "write tokens=6 or more"),
        ({"contexts": 5, "letters": 2, "spelling": 2}, "no two contexts are spelt alike"),
        ({"length": 0}, r"MultiModal\(length=0\): write length=1 or more"),
    ):
        with pytest.raises(UserError, match=message):
            MultiModal(**bad)
    with pytest.raises(UserError, match="write samples=1 or more"):
        ModeCoverage(task=TASK, samples=0)
