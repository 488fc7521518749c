"""What every memory that is younger than the thesis promises, whichever it is: alone, and in a cell."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import (
    MANN,
    DeltaMemory,
    HadamardMemory,
    LegendreMemory,
    LSTMController,
    MemoryCell,
    MLSTMMemory,
    SelfAttentiveMemory,
    StoredProgramInterface,
    UniformWriting,
    UserError,
    record_trace,
)
from mnemon.memory import Memory
from mnemon.state import detach, map_state, select

from .reference import draw, draw_state, run

Make = Callable[..., Memory[Any, Any]]
MEMORIES: dict[str, tuple[Make, dict[str, Any]]] = {
    "deltanet": (DeltaMemory, {"reads": 2}),
    "gated deltanet": (DeltaMemory, {"gated": True, "largest_strength": 2.0}),
    "linear attention": (DeltaMemory, {"delta": False}),
    "mlstm": (MLSTMMemory, {"reads": 2}),
    "shm": (HadamardMemory, {"reads": 2, "rows": 3}),
    "stm": (SelfAttentiveMemory, {"reads": 2}),
    "lmu": (LegendreMemory, {"window": 10}),
}
every_memory = pytest.mark.parametrize("name", MEMORIES)


def make(name: str, slots: int = 3, word: int = 2) -> Memory[Any, Any]:
    torch.manual_seed(0)
    kind, options = MEMORIES[name]
    return kind(slots, word, **options).double()


def make_rnn(name: str, **options: Any) -> MANN:
    memory = make(name)
    rnn = MANN(MemoryCell(LSTMController(4, 6, dtype=torch.float64), memory, output_size=2, **options))
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.normal_(std=0.5)
    return rnn


def assert_finite(state: Any) -> None:
    assert all(part.isfinite().all() for part in state)


@every_memory
def test_the_heads_make_up_the_interface(name: str) -> None:
    memory = make(name)
    assert memory.interface_size == sum(memory.head_sizes)
    assert memory.read_size == memory.init_state(1).reads.numel()
    memory.parse(draw(2, memory.interface_size))
    for wrong in (-1, 1):
        with pytest.raises(RuntimeError):
            memory.parse(draw(2, memory.interface_size + wrong))


@every_memory
def test_a_batch_is_its_samples_and_no_state_changes(name: str) -> None:
    memory = make(name)
    vectors, start = 3 * draw(4, 3, memory.interface_size), draw_state(memory, 3)
    before = map_state(Tensor.clone, start)
    together = run(memory, vectors, start)
    for sample in range(3):
        alone = run(memory, vectors[:, sample : sample + 1], select(start, sample))
        for one, all_of_them in zip(alone, together, strict=True):
            map_state(torch.testing.assert_close, one, select(all_of_them, sample))
    map_state(lambda *parts: torch.testing.assert_close(*parts, rtol=0, atol=0), start, before)


@every_memory
def test_without_writing_the_memory_is_only_read(name: str) -> None:
    memory = make(name)
    start = draw_state(memory, 2)
    for state in run(memory, draw(4, 2, memory.interface_size), start, [False] * 4):
        for part, kept in zip(start._fields, start, strict=True):
            assert part == "reads" or torch.equal(getattr(state, part), kept)
        assert (name == "lmu") == torch.equal(state.reads, start.reads)


@every_memory
@pytest.mark.parametrize("scale", [0.0, 1.0, 1e4])
def test_extremes_have_finite_gradients(name: str, scale: float) -> None:
    """From an empty memory, in single precision, with one slot of one number or more."""
    for sizes in ((3, 2), (1, 1)):
        memory = make(name, *sizes).float()
        vectors = (scale * draw(20, 2, memory.interface_size).float()).requires_grad_()
        states = run(memory, vectors, memory.init_state(2))
        for state in states:
            assert_finite(state)
        (gradient,) = torch.autograd.grad(states[-1].reads.sum(), vectors)
        assert gradient.isfinite().all()


@every_memory
@pytest.mark.parametrize("write", [True, False])
def test_gradient_of_a_step(name: str, write: bool) -> None:
    memory = make(name)
    start = draw_state(memory, 1)
    real = [part for part in start._fields if getattr(start, part).is_floating_point()]

    def step(vector: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        state = memory(memory.parse(vector), start._replace(**dict(zip(real, parts, strict=False))), write)
        return tuple(part for part in state if part.is_floating_point())

    leaves = [draw(1, memory.interface_size), *(getattr(start, part) for part in real)]
    inputs = [leaf.requires_grad_() for leaf in leaves] + list(memory.parameters())
    assert torch.autograd.gradcheck(step, inputs)


@every_memory
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_state_has_the_type_asked_for(name: str, dtype: torch.dtype) -> None:
    memory = make(name).to(dtype)
    state = memory.init_state(4, dtype=dtype)
    for after in (state, memory(memory.parse(draw(4, memory.interface_size).to(dtype)), state)):
        assert {part.dtype for part in after if part.is_floating_point()} == {dtype}
        assert {part.shape[0] for part in after} == {4}


@every_memory
@pytest.mark.parametrize("size", ["slots", "word"])
def test_sizes_below_one_are_refused_by_name(name: str, size: str) -> None:
    kind, options = MEMORIES[name]
    with pytest.raises(UserError, match=rf"^{size} must be at least 1, got 0$"):
        kind(**({"slots": 3, "word": 2} | options | {size: 0}))


@every_memory
def test_split_is_whole_and_padded_is_unpadded(name: str) -> None:
    rnn, inputs = make_rnn(name), draw(6, 3, 4)
    whole, final = rnn(inputs)
    first, state = rnn(inputs[:2])
    second, state = rnn(inputs[2:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    map_state(torch.testing.assert_close, state, final)
    output, padded = rnn(inputs, lengths=torch.tensor([6, 1, 0]))
    torch.testing.assert_close(output[:1, 1], whole[:1, 1])
    assert not output[1:, 1].any()
    map_state(torch.testing.assert_close, select(padded, 1), select(rnn(inputs[:1])[1], 1))
    map_state(torch.testing.assert_close, select(padded, 2), rnn.cell.init_state(1))


@every_memory
def test_gradients_of_a_sequence(name: str) -> None:
    rnn, inputs = make_rnn(name), draw(3, 2, 4).requires_grad_()

    def sequence(inputs: Tensor, *_parameters: Tensor) -> Tensor:
        return rnn(inputs)[0]  # type: ignore[no-any-return]

    assert torch.autograd.gradcheck(sequence, (inputs, *rnn.parameters()), fast_mode=True)


@every_memory
def test_traces_copies_programs_and_writing(name: str) -> None:
    rnn, inputs = make_rnn(name, interface=StoredProgramInterface(2, 2), writing=UniformWriting(2)), draw(5, 2, 4)
    output, final = rnn(inputs)
    with record_trace(rnn) as trace:
        traced, _ = copy.deepcopy(rnn)(inputs)
        rnn(inputs)
    torch.testing.assert_close(traced, output)
    for part, kept in detach(final.memory)._asdict().items():
        torch.testing.assert_close(getattr(trace.state, part)[-1], kept)
    torch.testing.assert_close(trace.state.memory[1], trace.state.memory[2])  # no write at the third step
    assert not torch.allclose(trace.state.memory[2], trace.state.memory[3])
