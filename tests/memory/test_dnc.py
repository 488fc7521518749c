"""The Differentiable Neural Computer's step against loops, and what is its own."""

from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from mnemon import DNCMemory, UserError
from mnemon.memory import addressing
from mnemon.state import map_state

from . import reference
from .reference import Matrix, Parts, Vector, assert_steps_like, draw, draw_state, run, sigmoid, softmax, softplus


class ReadHead(NamedTuple):
    key: Vector
    strength: float
    free_gate: float
    modes: Vector
    mask: Vector
    sharpness: Vector


def cut_mask(memory: DNCMemory, parts: Parts) -> Vector:
    return [sigmoid(m) for m in parts.take(memory.word)] if memory.masked_lookup else [1.0] * memory.word


def cut_read_head(memory: DNCMemory, parts: Parts) -> ReadHead:
    return ReadHead(
        key=parts.take(memory.word),
        strength=1 + softplus(parts.number()),
        free_gate=sigmoid(parts.number()),
        modes=softmax(parts.take(3)) if memory.links else [0.0, 1.0, 0.0],
        mask=cut_mask(memory, parts),
        sharpness=[1 + softplus(s) for s in parts.take(2)] if memory.sharp_links else [],
    )


def look_up(memory: Matrix, key: Vector, strength: float, mask: Vector) -> Vector:
    return reference.content_weights([reference.masked_cosine(key, slot, mask) for slot in memory], strength)


def step(memory: DNCMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    if memory.clip is not None:
        bound = memory.clip
        parts = Parts([min(max(number, -bound), bound) for number in parts.take(memory.interface_size)])
    heads = [cut_read_head(memory, parts) for _ in range(memory.reads)]
    key, strength = parts.take(memory.word), 1 + softplus(parts.number())
    erase, vector = [sigmoid(e) for e in parts.take(memory.word)], parts.take(memory.word)
    allocation_gate, write_gate = sigmoid(parts.number()), sigmoid(parts.number())
    mask = cut_mask(memory, parts)
    parts.finish()

    kept = reference.retention([head.free_gate for head in heads], state["read_weights"])
    used = reference.usage(state["usage"], state["write_weights"], kept)
    content, links, last = state["memory"], state["links"], state["precedence"]
    written = [0.0] * memory.slots
    if write:
        written = reference.write_weights(
            look_up(content, key, strength, mask), reference.allocation(used), allocation_gate, write_gate
        )
        if memory.erase_freed:
            content = [[k * number for number in slot] for k, slot in zip(kept, content, strict=True)]
        content = reference.erase_and_add(content, [written], [erase], [vector])
        if memory.links:
            links = reference.temporal_links(links, last, written)
            last = reference.precedence(last, written)
    readable, followed = (state["memory"], state["links"]) if memory.read_first else (content, links)
    read_weights = []
    for head, previous in zip(heads, state["read_weights"], strict=True):
        weights = look_up(readable, head.key, head.strength, head.mask)
        if memory.links:
            backward, forward = reference.retrace(followed, previous), reference.follow(followed, previous)
            if memory.sharp_links:
                backward = reference.sharpen(backward, head.sharpness[0])
                forward = reference.sharpen(forward, head.sharpness[1])
            weights = reference.mix_read_modes(head.modes, backward, weights, forward)
        read_weights.append(weights)
    return {
        "memory": content,
        "usage": used,
        "links": links,
        "precedence": last,
        "read_weights": read_weights,
        "write_weights": written,
        "reads": [reference.read(readable, weights) for weights in read_weights],
    }


@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize(("slots", "word", "reads"), [(1, 1, 1), (2, 3, 3), (5, 3, 2), (7, 1, 1)])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"read_first": True},
        {"links": False},
        {"masked_lookup": True},
        {"erase_freed": True},
        {"sharp_links": True},
        {"clip": None},
        {"clip": 0.5},
        {"links": False, "masked_lookup": True, "erase_freed": True},
        {"masked_lookup": True, "erase_freed": True, "sharp_links": True, "read_first": True, "clip": None},
    ],
    ids=str,
)
def test_steps(slots: int, word: int, reads: int, options: dict[str, Any], scale: float) -> None:
    memory = DNCMemory(slots, word, reads, **options)
    assert_steps_like(step, memory, draw_state(memory, 2), scale)


def test_interface_size() -> None:
    word, reads = 4, 3
    assert DNCMemory(5, word, reads).interface_size == word * reads + 3 * word + 5 * reads + 3
    assert DNCMemory(5, word, reads, links=False).interface_size == word * reads + 3 * word + 2 * reads + 3
    every = DNCMemory(5, word, reads, masked_lookup=True, sharp_links=True)
    assert every.interface_size == DNCMemory(5, word, reads).interface_size + word * (reads + 1) + 2 * reads


def test_initial_state() -> None:
    state = DNCMemory(5, 3, 2).init_state(4, dtype=torch.float64)
    small, nothing = torch.tensor(1e-6, dtype=torch.float64), torch.tensor(0.0, dtype=torch.float64)
    assert torch.equal(state.memory, torch.tensor(0.01, dtype=torch.float64).expand(4, 5, 3))
    assert torch.equal(state.read_weights, small.expand(4, 2, 5))
    assert torch.equal(state.write_weights, small.expand(4, 5))
    assert torch.equal(state.reads, small.expand(4, 2, 3))
    assert torch.equal(state.usage, nothing.expand(4, 5))
    assert torch.equal(state.precedence, nothing.expand(4, 5))
    assert torch.equal(state.links, nothing.expand(4, 5, 5))


def test_a_key_can_turn_away_from_slots_that_were_never_written() -> None:
    start = DNCMemory(16, 4).init_state(1, dtype=torch.float64).memory
    written = start.clone()
    written[0, 3] = torch.tensor([1.0, -1.0, 0.0, 0.0])
    away = torch.tensor([[[0.5, -2.0, -1.0, -1.0]]], dtype=torch.float64)
    (weights,) = addressing.content_weights(addressing.cosine_similarity(written, away), torch.full((1, 1), 9.0))
    assert weights[0, 3] > 0.99


def test_without_links_there_is_no_link_matrix() -> None:
    memory = DNCMemory(5, 3, links=False)
    for state in [memory.init_state(2), *run(memory, draw(2, 2, memory.interface_size).float(), memory.init_state(2))]:
        assert state.links.shape == (2, 0, 0)
        assert state.precedence.shape == (2, 0)


@pytest.mark.parametrize("options", [{}, {"read_first": True}, {"links": False}, {"sharp_links": True}], ids=str)
def test_without_writing_is_with_the_write_gate_closed(options: dict[str, Any]) -> None:
    memory = DNCMemory(4, 3, 2, **options, clip=None)
    start = draw_state(memory, 2)
    vector = draw(1, 2, memory.interface_size)
    vector[..., -1] = -1e4
    (closed,), (unwritten,) = run(memory, vector, start), run(memory, vector, start, [False])
    map_state(torch.testing.assert_close, closed, unwritten)


@pytest.mark.parametrize("options", [{}, {"erase_freed": True, "masked_lookup": True, "sharp_links": True}], ids=str)
@pytest.mark.parametrize("clip", [20.0, None])
@pytest.mark.parametrize("scale", [1.0, 10.0, 1e4])
def test_usage_and_links_stay_in_range(options: dict[str, Any], clip: float | None, scale: float) -> None:
    memory = DNCMemory(5, 3, 2, **options, clip=clip)
    vectors = scale * draw(50, 3, memory.interface_size).float()
    for state in run(memory, vectors, memory.init_state(3)):
        assert state.usage.min() >= 0
        assert state.usage.max() <= 1
        for weighting in (state.links, state.links.mT, state.precedence, state.write_weights):
            assert weighting.min() >= -1e-6
            assert weighting.sum(-1).max() <= 1 + 1e-5
        assert not state.links.diagonal(dim1=1, dim2=2).any()


def steer(memory: DNCMemory, *, write_gate: float, free_gate: float, mode: int = 1) -> Tensor:
    """An interface vector of one read head that decides with certainty; what it writes, to a free slot, is −1."""
    word, sure = memory.word, 1e4
    vector = torch.zeros(1, memory.interface_size)
    vector[0, word + 1] = sure * free_gate
    vector[0, word + 2 + mode] = sure
    erase = 2 * word + 6
    vector[0, erase : erase + word] = sure
    vector[0, erase + word : erase + 2 * word] = -1
    vector[0, -2:] = torch.tensor([sure, sure * write_gate])
    return vector


def test_free_slots_are_filled_read_in_order_and_freed() -> None:
    memory = DNCMemory(4, 3, clip=None)
    focus = torch.eye(4).view(4, 1, 1, 4)
    close = partial(torch.testing.assert_close, rtol=0, atol=1e-4)
    state, written = memory.init_state(1), []
    for _ in range(3):
        state = memory(memory.parse(steer(memory, write_gate=1, free_gate=-1)), state)
        written.append(int(state.write_weights.argmax()))
        close(state.write_weights, focus[written[-1], 0])
    first, second, third = written
    assert len(set(written)) == 3
    close(state.memory[0, written], -torch.ones(3, 3))

    state = state._replace(read_weights=focus[first])
    for mode, slot in ((2, second), (2, third), (0, second)):
        state = memory(memory.parse(steer(memory, write_gate=-1, free_gate=-1, mode=mode)), state)
        close(state.read_weights, focus[slot])

    state = memory(memory.parse(steer(memory, write_gate=-1, free_gate=1)), state)
    close(state.usage, (focus[first] + focus[third]).view(1, 4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"links": False, "sharp_links": True},
            "sharp_links needs links: write links=True, or leave sharp_links out",
        ),
        ({"clip": 0.0}, "clip must be above 0, or None for no bound, got 0.0"),
        ({"clip": -1.0}, "clip must be above 0, or None for no bound, got -1.0"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as raised:
        DNCMemory(3, 2, **options)
    assert str(raised.value) == message
