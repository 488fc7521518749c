"""The Neural Turing Machine's step against loops, and what is its own."""

import math
from typing import Any, NamedTuple

import pytest
import torch

from mnemon import NTMMemory, UserError

from . import reference
from .reference import Matrix, Parts, Vector, assert_steps_like, draw, draw_state, run, sigmoid, softmax, softplus


class Head(NamedTuple):
    key: Vector
    strength: float
    gate: float
    shifts: Vector
    sharpness: float


def cut(memory: NTMMemory, parts: Parts) -> Head:
    return Head(
        key=parts.take(memory.word),
        strength=softplus(parts.number()),
        gate=sigmoid(parts.number()),
        shifts=softmax(parts.take(2 * memory.shift_reach + 1)),
        sharpness=1 + softplus(parts.number()),
    )


def find(head: Head, memory: Matrix, previous: Vector) -> Vector:
    content = reference.look_up(memory, head.key, head.strength)
    gated = reference.interpolate(content, previous, head.gate)
    return reference.sharpen(reference.circular_shift(gated, head.shifts), head.sharpness)


def step(memory: NTMMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    read_heads = [cut(memory, parts) for _ in range(memory.reads)]
    write_heads, erase, add = [], [], []
    for _ in range(memory.writes):
        write_heads.append(cut(memory, parts))
        erase.append([sigmoid(e) for e in parts.take(memory.word)])
        add.append(parts.take(memory.word))
    content, write_weights = state["memory"], state["write_weights"]
    if write:
        write_weights = [find(head, content, w) for head, w in zip(write_heads, write_weights, strict=True)]
        content = reference.erase_and_add(content, write_weights, erase, add)
    readable = state["memory"] if memory.read_first else content
    read_weights = [find(head, readable, w) for head, w in zip(read_heads, state["read_weights"], strict=True)]
    return {
        "memory": content,
        "read_weights": read_weights,
        "write_weights": write_weights,
        "reads": [reference.read(readable, weights) for weights in read_weights],
    }


@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize(("slots", "word"), [(1, 1), (2, 3), (5, 3), (7, 1)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reads": 3, "writes": 2},
        {"read_first": True, "writes": 2},
        {"shift_reach": 0, "reads": 2},
        {"shift_reach": 3, "writes": 3, "read_first": True},
        {"writes": 2, "learned_start": True},
    ],
    ids=str,
)
def test_steps(slots: int, word: int, options: dict[str, Any], scale: float) -> None:
    torch.manual_seed(0)
    memory = NTMMemory(slots, word, **options, dtype=torch.float64)
    for start in (memory.init_state(2), draw_state(memory, 2)):
        assert_steps_like(step, memory, start, scale)


def test_interface_size() -> None:
    memory = NTMMemory(5, 4, 2, 3, shift_reach=2)
    assert memory.head_sizes == (4 + 3 + 5,) * 2 + (4 + 3 + 5 + 8,) * 3


def test_initial_state() -> None:
    torch.manual_seed(0)
    memory = NTMMemory(200, 50, 40, 2)
    bound = 1 / math.sqrt(250)
    state = memory.init_state(3)
    assert 0.99 * bound < state.memory.abs().max() <= bound
    assert abs(state.memory.std().item() - bound / math.sqrt(3)) < 0.02 * bound
    assert abs(state.reads.std().item() - 0.01) < 5e-4
    assert abs(state.reads.mean().item()) < 5e-4
    assert not state.read_weights.any()
    assert not state.write_weights.any()
    again = memory.init_state(2)
    for part, name in ((again.memory, "initial_memory"), (again.reads, "initial_reads")):
        assert all(torch.equal(sample, memory.get_buffer(name)) for sample in part)
    assert set(memory.state_dict()) == {"initial_memory", "initial_reads"}


def test_a_learned_start() -> None:
    torch.manual_seed(0)
    memory = NTMMemory(200, 50, 3, 2, learned_start=True)
    assert {name: tuple(part.shape) for name, part in memory.named_parameters()} == {
        "initial_reads": (3, 50),
        "initial_weights": (5, 200),
    }
    for part, numbers in ((memory.initial_reads, 50), (memory.initial_weights, 200)):
        bound = math.sqrt(6 / (1 + numbers))
        assert 0.9 * bound < part.abs().max() <= bound
    state = memory.init_state(4)
    assert torch.equal(state.reads[3], torch.tanh(memory.initial_reads))
    weights = torch.cat([state.read_weights, state.write_weights], dim=1)
    assert torch.equal(weights[3], torch.softmax(memory.initial_weights, dim=1))
    total = weights.square().sum() + state.reads.square().sum()
    assert all(gradient.any() for gradient in torch.autograd.grad(total, list(memory.parameters())))


def test_a_new_memory_is_another_memory() -> None:
    torch.manual_seed(0)
    memory = NTMMemory(3, 2)
    before = memory.initial_memory.clone(), memory.initial_reads.clone()
    memory.reset_parameters()
    assert not torch.equal(memory.initial_memory, before[0])
    assert not torch.equal(memory.initial_reads, before[1])


def test_without_writing_the_write_heads_stand_still() -> None:
    memory = NTMMemory(4, 3, 2, 2).double()
    start = draw_state(memory, 2)
    (state,) = run(memory, draw(1, 2, memory.interface_size), start, [False])
    assert torch.equal(state.write_weights, start.write_weights)
    assert not torch.equal(state.read_weights, start.read_weights)


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e4])
def test_every_weighting_sums_to_one(scale: float) -> None:
    memory = NTMMemory(5, 3, 2, 2)
    vectors = scale * draw(50, 2, memory.interface_size).float()
    for state in run(memory, vectors, memory.init_state(2)):
        torch.testing.assert_close(state.read_weights.sum(2), torch.ones(2, 2))
        torch.testing.assert_close(state.write_weights.sum(2), torch.ones(2, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"writes": 0}, "writes must be at least 1, got 0"),
        ({"shift_reach": -1}, "shift_reach must be 0 or more, got -1"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        NTMMemory(3, 2, **options)
    assert str(raised.value) == message
