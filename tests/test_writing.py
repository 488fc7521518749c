"""Writing policies: which steps access the memory, what cached writing recalls, and that interval 1 is regular."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon import (
    MANN,
    CachedUniformWriting,
    LSTMController,
    MemoryCell,
    RandomWriting,
    RegularWriting,
    UniformWriting,
    UserError,
    WriteProtected,
    record_trace,
)
from mnemon.rnn import Engine
from mnemon.state import map_state, select
from mnemon.writing import Access, Writing, uniform_pattern
from tests.parts import EVERY_MEMORY, LINES, MEMORIES, make_controller, random_input

POLICIES: dict[str, Callable[[], Writing[Any]]] = {
    "uniform": lambda: UniformWriting(interval=3),
    "uniform-encoder": lambda: UniformWriting(slots=2, length=5),
    "reading": lambda: UniformWriting(interval=2, hold_reads=False),
    "random": lambda: RandomWriting(slots=1, length=6),
    "random-endless": lambda: RandomWriting(slots=1, length=4, repeats=True, seed=1),
    "cached": lambda: CachedUniformWriting(interval=3, attention_size=2),
    "cached-encoder": lambda: CachedUniformWriting(interval=2, length=5, attention_size=2),
}


def make_rnn(
    policy: Writing[Any] | None, memory: str = "dnc", controller: str = "lstm", engine: Engine = "auto"
) -> MANN:
    torch.manual_seed(0)
    rnn = MANN(
        MemoryCell(make_controller(controller), EVERY_MEMORY[memory](), writing=policy, output_size=2), engine=engine
    )
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.normal_(std=0.5)
    return rnn


def steps_of(pattern: torch.Tensor) -> list[int]:
    """The writing steps, the first being 1."""
    return [step + 1 for step in pattern.nonzero().flatten().tolist()]


@pytest.mark.parametrize("memory", EVERY_MEMORY)
def test_write_protected_cell_reads_but_never_writes(memory: str) -> None:
    torch.manual_seed(0)
    shared = EVERY_MEMORY[memory]()
    writer = MANN(MemoryCell(LSTMController(4, 6, dtype=torch.float64), shared))
    reader = MANN(MemoryCell(LSTMController(4, 6, dtype=torch.float64), shared, writing=WriteProtected()))
    inputs = random_input(4, 2, 4)
    _, written = writer(inputs)
    with record_trace(reader) as trace:
        _, state = reader(inputs, written)
    torch.testing.assert_close(state.memory.memory, written.memory.memory, rtol=0, atol=0)
    # what a stack shows is where nothing was pushed or popped, whatever the controller says
    assert torch.allclose(trace.state.read_weights[0], trace.state.read_weights[-1]) == (memory in LINES)
    if memory.startswith("dnc") and memory != "dnc-no-links":
        torch.testing.assert_close(state.memory.links, written.memory.links, rtol=0, atol=0)


def test_when_uniform_writing_writes() -> None:
    assert steps_of(uniform_pattern(None, 4, 50, True)) == [10, 20, 30, 40]
    assert steps_of(uniform_pattern(None, 4, 50, False)) == [10, 20, 30, 40, 50]  # as printed: one more than slots
    assert steps_of(uniform_pattern(None, 9, 19, True)) == [2, 4, 6, 8, 10, 11, 13, 15, 17]
    assert steps_of(uniform_pattern(None, 9, 19, False)) == list(range(1, 20))  # as printed: regular writing
    assert steps_of(uniform_pattern(4, None, 10, True)) == [4, 8]
    assert steps_of(uniform_pattern(4, None, None, True)) == [4]


@given(slots=st.integers(1, 40), length=st.integers(1, 60))
def test_balanced_intervals_differ_by_at_most_one(slots: int, length: int) -> None:
    writes = steps_of(uniform_pattern(None, slots, length, True))
    assert len(writes) == min(slots, length)
    if slots < length:
        bounds = [0, *writes, length]
        intervals = [later - earlier for earlier, later in itertools.pairwise(bounds)]
        assert max(intervals) - min(intervals) <= 1


def test_after_the_encoded_sequence_every_step_writes() -> None:
    policy = UniformWriting(interval=2, length=5)
    plan = policy.plan(policy.init_state(1), 9).flatten().tolist()
    hold, write = int(Access.HOLD), int(Access.WRITE)
    assert plan == [hold, write, hold, write, hold, write, write, write, write]
    endless = UniformWriting(interval=2, hold_reads=False)
    assert endless.plan(endless.init_state(1), 4).flatten().tolist() == [int(Access.READ), write] * 2


def test_random_writing_is_drawn_once_at_its_rate() -> None:
    policy = RandomWriting(slots=499, length=5_000, seed=3)
    assert torch.equal(policy.pattern, RandomWriting(slots=499, length=5_000, seed=3).pattern)
    assert not torch.equal(policy.pattern, RandomWriting(slots=499, length=5_000, seed=4).pattern)
    assert abs(policy.pattern.double().mean().item() - 0.1) < 0.02
    assert "pattern" in policy.state_dict()
    endless = RandomWriting(slots=1, length=4, repeats=True, seed=1)
    plan = endless.plan(endless.init_state(1), 12)
    torch.testing.assert_close(plan[:4].repeat(3, 1), plan)
    assert len(set(plan[:4].flatten().tolist())) == 2


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("controller", ["lstm", "gru"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_interval_one_is_regular_writing(memory: str, controller: str, engine: Engine) -> None:
    inputs = random_input(5, 3, 4)
    regular = make_rnn(RegularWriting(), memory, controller, engine)
    expected, _ = regular(inputs)
    output, _ = make_rnn(UniformWriting(interval=1), memory, controller, engine)(inputs)
    torch.testing.assert_close(output, expected, rtol=0, atol=0)
    # a cache of one holds h_{t−1} alone, whatever the attention says
    cached = make_rnn(CachedUniformWriting(interval=1), memory, controller, engine)
    cached.load_state_dict(regular.state_dict(), strict=False)
    torch.testing.assert_close(cached(inputs)[0], expected)


@pytest.mark.parametrize("memory", EVERY_MEMORY)
def test_between_writes_the_memory_stands_still(memory: str) -> None:
    rnn = make_rnn(UniformWriting(interval=3), memory)
    with record_trace(rnn) as trace:
        rnn(random_input(7, 2, 4))
    for part in trace.state:
        for step in (3, 4, 6):
            torch.testing.assert_close(part[step], part[step - 1], rtol=0, atol=0)
    for step in (2, 5):
        assert not torch.allclose(trace.state.memory[step], trace.state.memory[step - 1])


def test_cached_writing_step_by_step() -> None:
    """A slow loop of the thesis's algorithm with an LSTM: the cache, the attention, and the cell of its own."""
    interval, steps = 3, 8
    rnn = make_rnn(CachedUniformWriting(interval=interval, attention_size=2), engine="reference")
    cell, inputs = rnn.cell, random_input(steps, 1, 4)
    policy = cell.writing
    assert isinstance(policy, CachedUniformWriting)
    output, _ = rnn(inputs)
    state, cache = cell.init_state(1), []
    hidden_size = cell.controller.hidden_size
    u, v = policy.key, policy.score
    w, from_reads = policy.query[:, :hidden_size], policy.query[:, hidden_size:]
    for step in range(1, steps + 1):
        h, r = state.controller.hidden, state.memory.reads.flatten(1)
        cache.append(h[0])
        writes = step % interval == 0
        if writes:
            scores = torch.stack([v @ torch.tanh(w @ h[0] + u @ d + from_reads @ r[0]) for d in cache])
            assert len(cache) == interval
            h = sum(weight * d for weight, d in zip(scores.softmax(0), cache, strict=True)).unsqueeze(0)
            cache = []
        controller = cell.controller(torch.cat([inputs[step - 1], r], 1), state.controller._replace(hidden=h))
        memory = state.memory
        if writes:
            memory = cell.memory(cell.memory.parse(cell.interface(controller.hidden)), memory)
        state = state._replace(controller=controller, memory=memory)
        features = torch.cat([controller.hidden, memory.reads.flatten(1)], 1)
        torch.testing.assert_close(output[step - 1], cell.readout(features))


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("policy", POLICIES)
def test_split_is_whole_and_batch_is_row_by_row(policy: str, engine: Engine) -> None:
    rnn = make_rnn(POLICIES[policy](), engine=engine)
    inputs, lengths = random_input(9, 3, 4), torch.tensor([9, 2, 6])
    whole, state = rnn(inputs, lengths=lengths)
    first, middle = rnn(inputs[:4], lengths=lengths.clamp_max(4))
    second, end = rnn(inputs[4:], middle, lengths=(lengths - 4).clamp_min(0))
    torch.testing.assert_close(torch.cat([first, second]), whole)
    map_state(torch.testing.assert_close, end, state)
    for row, length in enumerate(lengths.tolist()):
        output, alone = rnn(inputs[:length, row : row + 1])
        torch.testing.assert_close(whole[:length, row : row + 1], output)
        map_state(torch.testing.assert_close, select(state, row), alone)


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("policy", POLICIES)
def test_gradients(policy: str, engine: Engine, unchecked: None) -> None:
    rnn = make_rnn(POLICIES[policy](), engine=engine)
    names = list(dict(rnn.named_parameters()))

    def run(inputs: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        called = torch.func.functional_call(rnn, dict(zip(names, parameters, strict=True)), (inputs,))
        output: torch.Tensor = called[0]
        return output

    inputs = random_input(6, 2, 4).requires_grad_()
    assert torch.autograd.gradcheck(run, (inputs, *rnn.parameters()), fast_mode=True)  # along random directions


def test_bad_settings_say_what_to_write() -> None:
    with pytest.raises(UserError, match="needs an interval, or slots and length"):
        UniformWriting()
    with pytest.raises(UserError, match="an interval or slots, not both"):
        UniformWriting(interval=2, slots=3)
    with pytest.raises(UserError, match="interval"):
        UniformWriting(interval=0)
    policy = CachedUniformWriting(interval=2)
    make_rnn(policy)
    with pytest.raises(UserError, match="belongs to another cell"):
        make_rnn(policy)
