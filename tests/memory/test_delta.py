"""The delta rule against loops, and what is its own."""

import itertools
from typing import Any

import pytest
import torch

from mnemon import DeltaMemory, UserError
from mnemon.memory.delta import KEPT_AT_FIRST, DeltaInterface

from .reference import Parts, Vector, assert_steps_like, dot, draw, draw_state, norm, run, sigmoid


def unit(vector: Vector) -> Vector:
    squashed = [x * sigmoid(x) for x in vector]
    return [x / norm(squashed) for x in squashed]


def step(memory: DeltaMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    queries = [unit(parts.take(memory.slots)) for _ in range(memory.reads)]
    key, value = unit(parts.take(memory.slots)), parts.take(memory.word)
    strength = memory.largest_strength * sigmoid(parts.number())
    kept = sigmoid(parts.number() + KEPT_AT_FIRST) if memory.gated else 1.0
    content = state["memory"]
    if write:
        content = [[kept * number for number in row] for row in content]
        columns = list(zip(*content, strict=True))
        has = [dot(key, list(column)) if memory.delta else 0.0 for column in columns]
        for n, row in enumerate(content):
            for w in range(memory.word):
                row[w] += strength * key[n] * (value[w] - has[w])
    columns = list(zip(*content, strict=True))
    return {"memory": content, "reads": [[dot(query, list(column)) for column in columns] for query in queries]}


@pytest.mark.parametrize(("slots", "word", "reads"), [(1, 1, 1), (3, 2, 2), (2, 5, 1)])
@pytest.mark.parametrize(
    "options", [{}, {"gated": True}, {"delta": False}, {"gated": True, "largest_strength": 2.0}], ids=str
)
def test_steps(slots: int, word: int, reads: int, options: dict[str, Any]) -> None:
    memory = DeltaMemory(slots, word, reads, **options)
    assert_steps_like(step, memory, draw_state(memory, 2), scale=3.0)


def write_and_read(key: torch.Tensor, value: torch.Tensor, query: torch.Tensor) -> DeltaInterface:
    one = torch.ones(1, dtype=torch.float64)
    return DeltaInterface(query.view(1, 1, -1), key.unsqueeze(0), value.unsqueeze(0), one, one)


def test_a_key_stored_twice_has_the_last_value_and_others_keep_theirs() -> None:
    """With β = 1 and keys of length one; linear attention has the sum instead."""
    keys, _ = torch.linalg.qr(draw(4, 4))
    first, second, other = draw(3, 5, seed=1)
    for delta, expected in ((True, second), (False, first + second)):
        memory = DeltaMemory(4, 5, delta=delta)
        state = memory.init_state(1, dtype=torch.float64)
        for key, value in ((keys[0], first), (keys[1], other), (keys[0], second)):
            state = memory(write_and_read(key, value, keys[0]), state)
        torch.testing.assert_close(state.reads[0, 0], expected)
        held = memory(write_and_read(keys[2], other, keys[1]), state, write=False)
        torch.testing.assert_close(held.reads[0, 0], other)


def test_a_write_is_exact_for_any_key_of_length_one() -> None:
    memory = DeltaMemory(6, 3)
    state = draw_state(memory, 1)
    for number in range(20):
        key = torch.nn.functional.normalize(draw(6, seed=number), dim=0)
        value = draw(3, seed=100 + number)
        state = memory(write_and_read(key, value, key), state)
        torch.testing.assert_close(state.reads[0, 0], value)


def test_as_many_values_as_numbers_of_a_key_are_held() -> None:
    """Shown again and again, the rule converges to what all keys ask for, although no two of them are orthogonal."""
    keys = torch.nn.functional.normalize(torch.eye(3).double() + 0.3, dim=1)
    values = draw(3, 2, seed=4)
    memory = DeltaMemory(3, 2)
    state = memory.init_state(1, dtype=torch.float64)
    for _, number in itertools.product(range(60), range(3)):
        state = memory(write_and_read(keys[number], values[number], keys[0]), state)
    torch.testing.assert_close(keys @ state.memory[0], values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("largest", [1.0, 2.0])
def test_a_write_of_nothing_never_grows_the_memory(largest: float) -> None:
    memory = DeltaMemory(4, 3, largest_strength=largest)
    vectors = 1e4 * draw(50, 2, memory.interface_size)
    vectors[..., -4:-1] = 0  # v
    start = draw_state(memory, 2)
    sizes = [state.memory.flatten(1).norm(dim=1) for state in (start, *run(memory, vectors, start))]
    for before, after in itertools.pairwise(sizes):
        assert (after <= before * (1 + 1e-9)).all()


def test_the_gate_begins_near_one_and_can_forget_all() -> None:
    memory = DeltaMemory(3, 2, gated=True)
    vector = torch.zeros(1, memory.interface_size)
    assert memory.parse(vector).retention.item() == pytest.approx(0.982, abs=1e-3)
    vector[0, -1] = -1e4
    state = memory(memory.parse(vector), memory.init_state(1)._replace(memory=torch.ones(1, 3, 2)))
    assert not state.memory.any()


@pytest.mark.parametrize("bound", [0.0, -1.0, 2.1, float("nan")])
def test_bad_strengths_are_refused(bound: float) -> None:
    with pytest.raises(UserError, match="largest_strength must be above 0 and at most 2, got"):
        DeltaMemory(3, 2, largest_strength=bound)
