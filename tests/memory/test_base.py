"""What every memory promises, whichever it is."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import DequeMemory, DNCMemory, LRUAMemory, NTMMemory, QueueMemory, StackMemory, UserError
from mnemon.memory import Memory
from mnemon.memory.stack import LineMemory
from mnemon.state import map_state, select

from .reference import draw, draw_state, run

Make = Callable[..., Memory[Any, Any]]
MEMORIES: dict[str, tuple[Make, dict[str, Any]]] = {
    "ntm": (NTMMemory, {}),
    "ntm, several heads": (NTMMemory, {"reads": 2, "writes": 3}),
    "ntm, far shifts": (NTMMemory, {"shift_reach": 2, "read_first": True}),
    "dnc": (DNCMemory, {"reads": 2}),
    "dnc without links": (DNCMemory, {"links": False}),
    "dnc with every option": (
        DNCMemory,
        {"reads": 2, "masked_lookup": True, "erase_freed": True, "sharp_links": True, "read_first": True},
    ),
    "dnc unclipped": (DNCMemory, {"clip": None}),
    "lrua": (LRUAMemory, {"reads": 2}),
    "lrua as published": (LRUAMemory, {"strengths": False, "read_first": True}),
    "stack": (StackMemory, {}),
    "queue": (QueueMemory, {}),
    "deque": (DequeMemory, {}),
}


@pytest.fixture(params=MEMORIES.keys())
def memory(request: pytest.FixtureRequest) -> Memory[Any, Any]:
    torch.manual_seed(0)
    make, options = MEMORIES[request.param]
    return make(3, 2, **options).double()


@pytest.fixture(params=MEMORIES.keys())
def smallest(request: pytest.FixtureRequest) -> Memory[Any, Any]:
    torch.manual_seed(0)
    make, options = MEMORIES[request.param]
    return make(1, 1, **{**options, **({"reads": 1} if "reads" in options else {})})


def test_the_heads_make_up_the_interface(memory: Memory[Any, Any]) -> None:
    assert memory.interface_size == sum(memory.head_sizes)
    assert memory.read_size == memory.reads * memory.word
    memory.parse(draw(2, memory.interface_size))
    for wrong in (-1, 1):
        with pytest.raises(RuntimeError):
            memory.parse(draw(2, memory.interface_size + wrong))


def test_nothing_is_learned(memory: Memory[Any, Any]) -> None:
    assert not list(memory.parameters())


def test_a_batch_is_its_samples(memory: Memory[Any, Any]) -> None:
    vectors = 3 * draw(5, 3, memory.interface_size)
    for start in (memory.init_state(3, dtype=torch.float64), draw_state(memory, 3)):
        together = run(memory, vectors, start)
        for sample in range(3):
            alone = run(memory, vectors[:, sample : sample + 1], select(start, sample))
            for one, all_of_them in zip(alone, together, strict=True):
                map_state(torch.testing.assert_close, one, select(all_of_them, sample))


def test_a_step_changes_no_state_but_makes_one(memory: Memory[Any, Any]) -> None:
    state = draw_state(memory, 2)
    before = map_state(Tensor.clone, state)
    run(memory, draw(2, 2, memory.interface_size), state)
    map_state(lambda *parts: torch.testing.assert_close(*parts, rtol=0, atol=0), state, before)


def test_without_writing_the_memory_is_only_read(memory: Memory[Any, Any]) -> None:
    start = draw_state(memory, 2)
    states = run(memory, draw(6, 2, memory.interface_size), start, [False] * 6)
    for previous, state in zip([start, *states], states, strict=False):
        assert torch.equal(state.memory, start.memory)
        if not isinstance(memory, LineMemory):  # which shows the same until it is pushed or popped
            assert not torch.equal(state.reads, previous.reads)


def assert_bounded(state: Any) -> None:
    for part in state:
        assert part.isfinite().all()
    for weights in (state.read_weights, state.write_weights):
        assert weights.min() >= -1e-6
        assert weights.max() <= 1 + 1e-5
    assert state.read_weights.sum(-1).max() <= 1 + 1e-5


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e4])
def test_fifty_steps_stay_bounded(memory: Memory[Any, Any], scale: float) -> None:
    memory = memory.float()
    vectors = scale * draw(50, 2, memory.interface_size).float()
    for state in run(memory, vectors, memory.init_state(2)):
        assert_bounded(state)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_one_slot_of_one_number_works(smallest: Memory[Any, Any], scale: float) -> None:
    vectors = scale * draw(5, 1, smallest.interface_size).float()
    for state in run(smallest, vectors, smallest.init_state(1)):
        assert_bounded(state)


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4])
def test_an_empty_memory_has_a_finite_gradient(memory: Memory[Any, Any], scale: float) -> None:
    memory = memory.float()
    nothing = map_state(lambda part: torch.zeros_like(part).requires_grad_(), memory.init_state(2))
    vector = (scale * draw(2, memory.interface_size).float()).requires_grad_()
    state = memory(memory.parse(vector), nothing)
    assert_bounded(state)
    leaves = [vector, *nothing]
    total = sum((part.square().sum() for part in state), torch.zeros(()))
    for gradient in torch.autograd.grad(total, leaves, allow_unused=True):
        assert gradient is None or gradient.isfinite().all()


@pytest.mark.parametrize("write", [True, False])
def test_gradient_of_a_step(memory: Memory[Any, Any], write: bool) -> None:
    start = draw_state(memory, 1)

    def step(vector: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        return tuple(memory(memory.parse(vector), type(start)(*parts), write))

    leaves = [part.requires_grad_() for part in (draw(1, memory.interface_size), *start)]
    assert torch.autograd.gradcheck(step, leaves)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_state_has_the_type_asked_for(memory: Memory[Any, Any], dtype: torch.dtype) -> None:
    state = memory.init_state(4, dtype=dtype)
    assert {part.dtype for part in state} == {dtype}
    assert {part.shape[0] for part in state} == {4}
    vector = draw(4, memory.interface_size).to(dtype)
    assert {part.dtype for part in memory(memory.parse(vector), state)} == {dtype}


@pytest.mark.parametrize("make", [NTMMemory, DNCMemory, LRUAMemory])
@pytest.mark.parametrize("name", ["slots", "word", "reads"])
def test_sizes_below_one_are_refused_by_name(make: Make, name: str) -> None:
    with pytest.raises(UserError, match=rf"^{name} must be at least 1, got 0$"):
        make(**{"slots": 3, "word": 2, "reads": 1, name: 0})
