"""Stable Hadamard memory against loops, and that it is stable."""

import math
from typing import Any

import pytest
import torch

from mnemon import HadamardMemory
from mnemon.memory.hadamard import SMALLEST_SUM

from .reference import Parts, Vector, assert_steps_like, dot, draw, draw_state, run, sigmoid


def shares(vector: Vector) -> Vector:
    positive = [max(x, 0.0) for x in vector]
    return [x / (sum(positive) + SMALLEST_SUM) for x in positive]


def step(memory: HadamardMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    queries = [shares(parts.take(memory.slots)) for _ in range(memory.reads)]
    key, calibration = shares(parts.take(memory.slots)), parts.take(memory.slots)
    value, gate = parts.take(memory.word), sigmoid(parts.number())
    content, row = [list(line) for line in state["memory"]], state["row"]
    if write:
        table = memory.table.tolist()
        mean = [sum(column) / memory.rows for column in zip(*table, strict=True)]
        theta = [number - middle for number, middle in zip(table[row], mean, strict=True)]
        for n, line in enumerate(content):
            for w in range(memory.word):
                line[w] = line[w] * (1 + math.tanh(calibration[n] * theta[w])) + gate * key[n] * value[w]
        row = (row + 1) % memory.rows
    columns = [list(column) for column in zip(*content, strict=True)]
    return {"memory": content, "row": row, "reads": [[dot(query, column) for column in columns] for query in queries]}


def make(slots: int, word: int, reads: int = 1, rows: int = 128, seed: int = 0) -> HadamardMemory:
    torch.manual_seed(seed)
    return HadamardMemory(slots, word, reads, rows=rows).double()


@pytest.mark.parametrize(("slots", "word", "reads", "rows"), [(1, 1, 1, 1), (3, 2, 2, 2), (2, 4, 1, 5)])
def test_steps(slots: int, word: int, reads: int, rows: int) -> None:
    memory = make(slots, word, reads, rows)
    assert_steps_like(step, memory, draw_state(memory, 2), scale=3.0)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1e4])
def test_a_thousand_random_steps_stay_bounded(scale: float) -> None:
    memory = make(4, 3).float()
    vectors = scale * draw(1000, 4, memory.interface_size).float()
    largest = max(float(state.memory.detach().abs().max()) for state in run(memory, vectors, memory.init_state(4)))
    assert largest < 2**20 * scale  # factors are doublings at most, and a long run of them is rare


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 1e4])
def test_what_repeats_never_grows_over_a_round(scale: float) -> None:
    """Not even with a table that favours growth: its rows are centred."""
    memory = make(4, 3, rows=16)
    memory.table.data += 2.0
    vector = scale * draw(1, 2, memory.interface_size)
    vector[..., 3 * 4 : 3 * 4 + 3] = 0  # v
    start = draw_state(memory, 2)
    states = run(memory, vector.expand(160, -1, -1), start)
    for round_end in range(15, 160, 16):
        assert (states[round_end].memory.abs() <= start.memory.abs() * (1 + 1e-9)).all()


def test_rows_take_turns_and_wait_where_nothing_is_written() -> None:
    memory = make(2, 2, rows=3)
    writes = [True, True, False, True, True]
    states = run(memory, draw(5, 1, memory.interface_size), memory.init_state(1, dtype=torch.float64), writes)
    assert [int(state.row) for state in states] == [1, 2, 2, 0, 1]


def test_no_positive_number_makes_no_key() -> None:
    memory = make(3, 2)
    vector = -draw(1, memory.interface_size).abs().requires_grad_()
    state = memory(memory.parse(vector), memory.init_state(1, dtype=torch.float64))
    assert not state.memory.any()
    (gradient,) = torch.autograd.grad(state.reads.sum(), vector)
    assert gradient.isfinite().all()
