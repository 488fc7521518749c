"""Least recently used access against loops, and what is its own."""

from typing import Any

import pytest
import torch

from mnemon import LRUAMemory, UserError

from . import reference
from .reference import Parts, assert_steps_like, draw, draw_state, run, sigmoid, softplus


def step(memory: LRUAMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    keys, gates, strengths = [], [], []
    for _ in range(memory.reads):
        keys.append(parts.take(memory.word))
        gates.append(sigmoid(parts.number()))
        strengths.append(1 + softplus(parts.number()) if memory.strengths else 1.0)
    content, used = state["memory"], state["usage"]
    write_weights = [[0.0] * memory.slots for _ in keys]
    if write:
        least = reference.least_used(used, memory.reads)
        write_weights = [
            [gate * r + (1 - gate) * lu for r, lu in zip(weights, least, strict=True)]
            for gate, weights in zip(gates, state["read_weights"], strict=True)
        ]
        content = [list(slot) for slot in content]
        content[reference.least_used(used, 1).index(1.0)] = [0.0] * memory.word
        for i, slot in enumerate(content):
            for d in range(memory.word):
                slot[d] += sum(w[i] * k[d] for w, k in zip(write_weights, keys, strict=True))
    readable = state["memory"] if memory.read_first else content
    read_weights = [reference.look_up(readable, key, strength) for key, strength in zip(keys, strengths, strict=True)]
    return {
        "memory": content,
        "usage": [
            memory.decay * u + sum(w[i] for w in read_weights) + sum(w[i] for w in write_weights)
            for i, u in enumerate(used)
        ],
        "read_weights": read_weights,
        "write_weights": write_weights,
        "reads": [reference.read(readable, weights) for weights in read_weights],
    }


@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize(("slots", "word", "reads"), [(1, 1, 1), (2, 3, 2), (5, 3, 2), (7, 1, 3)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strengths": False},
        {"read_first": True},
        {"decay": 0.0},
        {"strengths": False, "read_first": True, "decay": 0.5},
    ],
    ids=str,
)
def test_steps(slots: int, word: int, reads: int, options: dict[str, Any], scale: float) -> None:
    memory = LRUAMemory(slots, word, reads, **options)
    assert_steps_like(step, memory, draw_state(memory, 2), scale)


def test_interface_size() -> None:
    assert LRUAMemory(5, 4, 3).head_sizes == (6, 6, 6)
    assert LRUAMemory(5, 4, 3, strengths=False).head_sizes == (5, 5, 5)


def test_initial_state() -> None:
    state = LRUAMemory(5, 3, 2).init_state(4, dtype=torch.float64)
    assert torch.equal(state.memory, torch.full((4, 5, 3), 0.01, dtype=torch.float64))
    assert torch.equal(state.reads, torch.full((4, 2, 3), 1e-6, dtype=torch.float64))
    assert torch.equal(state.usage, torch.zeros(4, 5, dtype=torch.float64))
    assert torch.equal(state.read_weights, torch.zeros(4, 2, 5, dtype=torch.float64))
    assert torch.equal(state.write_weights, torch.zeros(4, 2, 5, dtype=torch.float64))


def test_the_first_write_goes_to_the_first_slots() -> None:
    memory = LRUAMemory(5, 3, 2)
    vector = draw(1, 1, memory.interface_size).float()
    vector.view(2, -1)[:, 3] = -1e4
    (state,) = run(memory, vector, memory.init_state(1))
    assert torch.equal(state.write_weights, torch.tensor([[[1.0, 1, 0, 0, 0]] * 2]))


def test_an_open_gate_writes_where_it_read_and_empties_the_least_used() -> None:
    memory = LRUAMemory(3, 2)
    start = memory.init_state(1)._replace(
        memory=torch.tensor([[[1.0, 2], [3, 4], [5, 6]]]),
        usage=torch.tensor([[2.0, 0.5, 1.0]]),
        read_weights=torch.tensor([[[0.0, 0, 1]]]),
    )
    (state,) = run(memory, torch.tensor([[[10.0, 20, 1e4, 0]]]), start)
    assert torch.equal(state.memory, torch.tensor([[[1.0, 2], [0, 0], [15, 26]]]))


def test_without_writing_usage_decays_and_no_head_writes() -> None:
    memory = LRUAMemory(4, 3, 2, decay=0.5)
    start = draw_state(memory, 2)
    (state,) = run(memory, draw(1, 2, memory.interface_size), start, [False])
    assert not state.write_weights.any()
    torch.testing.assert_close(state.usage, 0.5 * start.usage + state.read_weights.sum(1))


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e4])
def test_usage_stays_bounded(scale: float) -> None:
    memory = LRUAMemory(5, 3, 2, decay=0.9)
    vectors = scale * draw(50, 2, memory.interface_size).float()
    for state in run(memory, vectors, memory.init_state(2)):
        assert state.usage.min() >= 0
        assert state.usage.max() <= (2 + 2) / (1 - 0.9) * (1 + 1e-5)
        torch.testing.assert_close(state.read_weights.sum(2), torch.ones(2, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reads": 4}, "reads must be at most slots (3), got 4"),
        ({"decay": 1.0}, "decay must be in [0, 1), got 1.0"),
        ({"decay": -0.1}, "decay must be in [0, 1), got -0.1"),
        ({"decay": float("nan")}, "decay must be in [0, 1), got nan"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        LRUAMemory(3, 2, **options)
    assert str(raised.value) == message
