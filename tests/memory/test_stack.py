"""Stack, queue and deque against loops as printed, and against lists where strengths are 0 or 1."""

import math
from collections import deque
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon import DequeMemory, QueueMemory, StackMemory, UserError
from mnemon.memory.stack import End, LineMemory, StackInterface, StackState, covering, make_room, pop, read_weights

from .reference import assert_close, draw, draw_unit, read, run

KINDS: list[type[LineMemory]] = [StackMemory, QueueMemory, DequeMemory]
every_kind = pytest.mark.parametrize("kind", KINDS)
Vector = list[float]


class Printed:
    """V and s with a row for every push, which nothing removes."""

    def __init__(self, kind: type[LineMemory]) -> None:
        self.kind = kind
        self.values: list[Vector] = []
        self.strengths: Vector = []

    def step(self, values: list[Vector], pushes: Vector, pops: Vector) -> list[Vector]:
        if self.kind is QueueMemory:
            self._pop_bottom(pops[0])
        else:
            self._pop_top(pops[0])
        if self.kind is DequeMemory:
            self._pop_bottom(pops[1])
            self.values.insert(0, values[1])
            self.strengths.insert(0, pushes[1])
        self.values.append(values[0])
        self.strengths.append(pushes[0])
        tops, bottoms = self._read_top(), self._read_bottom()
        return {StackMemory: [tops], QueueMemory: [bottoms], DequeMemory: [tops, bottoms]}[self.kind]

    def _pop_top(self, u: float) -> None:
        s, t = self.strengths, len(self.strengths)
        self.strengths = [max(0, s[i] - max(0, u - sum(s[j] for j in range(i + 1, t)))) for i in range(t)]

    def _pop_bottom(self, u: float) -> None:
        s, t = self.strengths, len(self.strengths)
        self.strengths = [max(0, s[i] - max(0, u - sum(s[j] for j in range(i)))) for i in range(t)]

    def _read_top(self) -> Vector:
        s, t = self.strengths, len(self.strengths)
        return read(self.values, [min(s[i], max(0, 1 - sum(s[j] for j in range(i + 1, t)))) for i in range(t)])

    def _read_bottom(self) -> Vector:
        s, t = self.strengths, len(self.strengths)
        return read(self.values, [min(s[i], max(0, 1 - sum(s[j] for j in range(i)))) for i in range(t)])


def living(values: list[Vector], strengths: Vector) -> list[tuple[Vector, float]]:
    """The rows that have strength, in order."""
    return [(value, strength) for value, strength in zip(values, strengths, strict=True) if strength > 0]


@every_kind
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_steps_as_printed(kind: type[LineMemory], scale: float) -> None:
    steps, word = 9, 3
    memory = kind(slots=2 * steps if kind is DequeMemory else steps, word=word)
    vectors = scale * draw(steps, 2, memory.interface_size)
    states = run(memory, vectors, memory.init_state(2, dtype=torch.float64))
    for sample in range(2):
        printed = Printed(kind)
        for vector, state in zip(vectors[:, sample].tolist(), states, strict=True):
            ends = [vector[end * (word + 2) :] for end in range(memory.reads)]
            reads = printed.step(
                [[math.tanh(number) for number in own[:word]] for own in ends],
                [1 / (1 + math.exp(-own[word])) for own in ends],
                [1 / (1 + math.exp(-own[word + 1])) for own in ends],
            )
            assert_close(state.reads[sample], reads)
            ours = living(state.memory[sample].tolist(), state.strengths[sample].tolist())
            theirs = living(printed.values, printed.strengths)
            assert len(ours) == len(theirs)
            for (value, strength), (their_value, their_strength) in zip(ours, theirs, strict=True):
                assert value == pytest.approx(their_value)
                assert strength == pytest.approx(their_strength)


def interface(values: list[Vector], pushes: Vector, pops: Vector) -> StackInterface:
    """For one sample, of whole strengths."""
    return StackInterface(*(torch.tensor([part], dtype=torch.float64) for part in (values, pushes, pops)))


OPERATIONS = st.lists(st.tuples(*[st.booleans()] * 4), min_size=1, max_size=25)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(KINDS), OPERATIONS, st.integers(1, 6))
def test_whole_strengths_are_a_list(kind: type[LineMemory], operations: list[Any], slots: int) -> None:
    """Also when full: the row farthest from the new one is lost, however long the sequence was before."""
    memory, items = kind(slots, 1), deque[float]()
    state = memory.init_state(1, dtype=torch.float64)
    for number, (push_top, pop_top, push_bottom, pop_bottom) in enumerate(operations):
        value = float(number + 1)
        ends = memory.reads
        told = interface(
            [[value], [-value]][:ends], [float(push_top), float(push_bottom)][:ends], [pop_top, pop_bottom][:ends]
        )
        state = memory(told, state)
        if pop_top and items:
            items.popleft() if kind is QueueMemory else items.pop()
        if kind is DequeMemory and pop_bottom and items:
            items.popleft()
        if push_top:
            if len(items) == slots:
                items.popleft()
            items.append(value)
        if kind is DequeMemory and push_bottom:
            if len(items) == slots:
                items.pop()
            items.appendleft(-value)
        row = living(state.memory[0].tolist(), state.strengths[0].tolist())
        assert row == [([item], 1.0) for item in items]
        top, bottom = (items[-1], items[0]) if items else (0.0, 0.0)
        expected = {StackMemory: [top], QueueMemory: [bottom], DequeMemory: [top, bottom]}[kind]
        assert state.reads[0, :, 0].tolist() == expected


@every_kind
def test_a_long_sequence_needs_no_more_slots_than_it_has_rows(kind: type[LineMemory]) -> None:
    """Forty rows come and go through three slots as through eighty."""
    small, large = kind(3, 2), kind(80, 2)
    states = [memory.init_state(1, dtype=torch.float64) for memory in (small, large)]
    for step in range(40):
        values = draw(1, small.reads, 2, seed=step)
        pushes, pops = draw_unit(1, small.reads, seed=step), torch.ones(1, small.reads, dtype=torch.float64)
        states = [
            memory(StackInterface(values, pushes, pops), state)
            for memory, state in zip((small, large), states, strict=True)
        ]
        torch.testing.assert_close(states[0].reads, states[1].reads)


def test_the_figure_of_grefenstette() -> None:
    memory, values = StackMemory(3, 3), torch.eye(3, dtype=torch.float64).tolist()
    state = memory.init_state(1, dtype=torch.float64)
    for value, push, popped in zip(values, (0.8, 0.5, 0.9), (0.0, 0.1, 0.9), strict=True):
        state = memory(interface([value], [push], [popped]), state)
    rows = living(state.memory[0].tolist(), state.strengths[0].tolist())
    assert [value for value, _ in rows] == [values[0], values[2]]
    assert [strength for _, strength in rows] == pytest.approx([0.3, 0.9])
    assert state.reads[0, 0].tolist() == pytest.approx([0.1, 0.0, 0.9])


def test_the_weakest_row_is_lost() -> None:
    memory = StackMemory(3, 1)
    state = memory.init_state(1, dtype=torch.float64)
    for value, strength in ((1.0, 0.9), (2.0, 0.2), (3.0, 0.8), (4.0, 0.7), (5.0, 0.6)):
        state = memory(interface([[value]], [strength], [0.0]), state)
    assert state.memory[0, :, 0].tolist() == [1.0, 3.0, 4.0]
    assert state.strengths[0].tolist() == [0.9, 0.8, 0.7]


@pytest.mark.parametrize("end", list(End))
def test_no_more_than_one_is_read_and_no_more_popped_than_asked(end: End) -> None:
    for scale in (0.0, 0.1, 1.0, 100.0):
        strengths = scale * draw_unit(5, 7)
        weights = read_weights(strengths, end)
        assert (weights >= 0).all()
        assert (weights <= strengths).all()
        torch.testing.assert_close(weights.sum(1), strengths.sum(1).clamp_max(1))
        amount = draw_unit(5, seed=1)
        left = pop(strengths, amount, end)
        assert (left >= 0).all()
        torch.testing.assert_close(left.sum(1), (strengths.sum(1) - amount).clamp_min(0))


def test_covering_by_hand() -> None:
    strengths = torch.tensor([[0.5, 0.25, 1.0]])
    assert covering(strengths, End.TOP).tolist() == [[1.25, 1.0, 0.0]]
    assert covering(strengths, End.BOTTOM).tolist() == [[0.0, 0.5, 0.75]]


def test_room_by_hand() -> None:
    strengths = torch.tensor([[0.0, 0.5, 0.0, 0.0], [0.5, 0.2, 0.3, 0.4]])
    top, bottom = (make_room(strengths, torch.full((2, 1), 0.2), end) for end in End)
    assert top.here.tolist() == [[False, False, True, False], [False, False, False, True]]
    assert top.moved.tolist() == [[False] * 4, [False, True, True, True]]
    assert bottom.here.tolist() == [[True, False, False, False], [True, False, False, False]]
    assert bottom.moved.tolist() == [[False] * 4, [True, True, False, False]]
    assert (top.by, bottom.by) == (-1, 1)
    weaker = make_room(strengths, torch.full((2, 1), 0.1), End.TOP)
    assert torch.equal(weaker.here, top.here & torch.tensor([[True], [False]]))
    assert not weaker.moved.any()


@every_kind
def test_without_writing_nothing_is_popped_or_pushed(kind: type[LineMemory]) -> None:
    memory = kind(4, 3)
    vectors = draw(4, 2, memory.interface_size)
    *_, before, state = run(memory, vectors, memory.init_state(2, dtype=torch.float64), [True, True, True, False])
    assert isinstance(state, StackState)
    for name in ("memory", "strengths", "read_weights", "reads"):
        assert torch.equal(getattr(state, name), getattr(before, name))
    assert before.write_weights.any()
    assert not state.write_weights.any()


@every_kind
def test_write_weights_say_where_and_how_much(kind: type[LineMemory]) -> None:
    memory = kind(16, 2)
    vectors = draw(8, 3, memory.interface_size)
    for vector, state in zip(vectors, run(memory, vectors, memory.init_state(3, dtype=torch.float64)), strict=True):
        told = memory.parse(vector)
        torch.testing.assert_close(state.write_weights.sum(2), told.pushes)
        torch.testing.assert_close(
            torch.einsum("ben,bnw->bew", state.write_weights, state.memory), told.pushes.unsqueeze(2) * told.values
        )


@every_kind
def test_gradient_over_several_steps_beyond_the_slots(kind: type[LineMemory]) -> None:
    memory = kind(3, 2)

    def last(vectors: Tensor) -> tuple[Tensor, ...]:
        state = run(memory, vectors, memory.init_state(1, dtype=torch.float64))[-1]
        return state.reads, state.strengths, state.memory

    assert torch.autograd.gradcheck(last, draw(5, 1, memory.interface_size).requires_grad_(), fast_mode=True)


@every_kind
@pytest.mark.parametrize("name", ["slots", "word"])
def test_sizes_below_one_are_refused_by_name(kind: type[LineMemory], name: str) -> None:
    with pytest.raises(UserError, match=rf"^{name} must be at least 1, got 0$"):
        kind(**{"slots": 3, "word": 2, name: 0})
