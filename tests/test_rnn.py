"""A memory network behaves as nn.LSTM does, for every memory and controller."""

import copy
import itertools
import pickle
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell, NTMMemory, UniformWriting, UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.rnn import AT_ONCE, Engine
from mnemon.state import detach, join, map_state, select
from mnemon.trace import record_trace
from tests.parts import EVERY_MEMORY, LINES, MEMORIES, WITH_KERNELS, WITHOUT_KERNELS, make_rnn, random_input

ENGINES: tuple[Engine, ...] = ("reference", "native")
every_memory = pytest.mark.parametrize("memory", EVERY_MEMORY)
every_memory_and_engine = pytest.mark.parametrize(
    ("memory", "engine"),
    [*itertools.product(MEMORIES, ENGINES), *((memory, "reference") for memory in LINES)],
)
every_cell = pytest.mark.parametrize(
    ("memory", "controller", "engine"),
    [
        *itertools.product(MEMORIES, WITH_KERNELS, ENGINES),
        *itertools.product(["ntm"], ["original-lstm"], ENGINES),
        # those without kernels with few others, as parts are independent
        *itertools.product(["dnc"], WITHOUT_KERNELS, ["reference", "auto"]),
        *itertools.product(LINES, ["lstm", "feed-forward"], ["reference"]),
        ("stack", WITHOUT_KERNELS[0], "reference"),
    ],
)


def parts_of(state: tuple[Any, ...]) -> list[torch.Tensor]:
    return [tensor for part in state for tensor in ([part] if isinstance(part, torch.Tensor) else parts_of(part))]


def assert_same(one: object, other: object) -> None:
    torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@every_cell
def test_split_is_whole(memory: str, controller: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, controller, engine=engine), random_input(9, 3, 4)
    whole, final = rnn(inputs)
    first, state = rnn(inputs[:4])
    second, state = rnn(inputs[4:], state)
    assert_same(torch.cat([first, second]), whole)
    assert_same(state, final)


@every_cell
def test_batch_is_one_by_one(memory: str, controller: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, controller, engine=engine), random_input(6, 3, 4)
    output, state = rnn(inputs)
    alone = [rnn(inputs[:, row : row + 1]) for row in range(3)]
    assert_same(torch.cat([row_output for row_output, _ in alone], dim=1), output)
    assert_same(join([row_state for _, row_state in alone]), state)
    assert_same(select(state, [2, 0]), join([alone[2][1], alone[0][1]]))


@every_cell
def test_padded_is_unpadded(memory: str, controller: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, controller, engine=engine), random_input(7, 4, 4)
    lengths = [3, 7, 0, 1]
    output, state = rnn(inputs, lengths=torch.tensor(lengths))
    for row, length in enumerate(lengths):
        assert not output[length:, row].any()
        expected = rnn.cell.init_state(1)
        if length:
            alone, expected = rnn(inputs[:length, row : row + 1])
            assert_same(output[:length, row : row + 1], alone)
        assert_same(select(state, row), expected)


@every_memory_and_engine
def test_padding_has_no_gradient(memory: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(5, 2, 4).requires_grad_()
    output, state = rnn(inputs, lengths=torch.tensor([5, 2]))
    (output.sum() + state.memory.memory.sum()).backward()
    assert inputs.grad is not None
    assert not inputs.grad[2:, 1].any()
    assert inputs.grad[:2, 1].all()


@every_memory_and_engine
@pytest.mark.parametrize("enforce_sorted", [True, False])
def test_packed_is_padded(memory: str, enforce_sorted: bool, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(7, 3, 4)
    lengths = torch.tensor([7, 4, 2] if enforce_sorted else [4, 4, 7])
    padded, state = rnn(inputs, lengths=lengths)
    packed, packed_state = rnn(pack_padded_sequence(inputs, lengths, enforce_sorted=enforce_sorted))
    unpacked, unpacked_lengths = pad_packed_sequence(packed)
    assert_same(unpacked, padded)
    assert_same(packed_state, state)
    assert unpacked_lengths.tolist() == lengths.tolist()


@every_cell
def test_gradients_are_right(memory: str, controller: str, engine: Engine) -> None:
    rnn = make_rnn(memory, controller, engine=engine)
    inputs = random_input(3, 2, 4).requires_grad_()

    def run(inputs: torch.Tensor, *_parameters: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        output, state = rnn(inputs)
        return output, state.memory.memory

    assert torch.autograd.gradcheck(run, (inputs, *rnn.parameters()), fast_mode=True)


@every_memory_and_engine
def test_gradients_pass_through_the_state(memory: str, engine: Engine) -> None:
    rnn = make_rnn(memory, engine=engine)
    first, second = random_input(2, 2, 4).requires_grad_(), random_input(2, 2, 4, seed=2)
    _, state = rnn(first)
    through, _ = rnn(second, state)
    cut, _ = rnn(second, detach(state))
    assert_same(through, cut)
    assert torch.autograd.grad(through.sum(), first)[0].any()
    with pytest.raises(RuntimeError, match="not have been used"):
        torch.autograd.grad(cut.sum(), first)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.usefixtures("unchecked")
def test_thousands_of_extreme_steps_stay_finite(memory: str, engine: Engine) -> None:
    torch.manual_seed(0)
    hundreds = 100 if engine == "native" else 20  # the reference takes its time
    rnn = MANN(MemoryCell(LSTMController(4, 6), EVERY_MEMORY[memory](), output_size=2), engine=engine)
    generator = torch.Generator().manual_seed(0)
    state = rnn.cell.init_state(2)
    with torch.no_grad():
        for _ in range(hundreds):
            inputs = 1e4 * (2 * torch.rand(100, 2, 4, generator=generator) - 1)
            output, state = rnn(inputs, state)
            assert output.isfinite().all()
    assert all(part.isfinite().all() for part in parts_of(state))


@every_memory_and_engine
def test_extreme_inputs_have_finite_gradients(memory: str, engine: Engine) -> None:
    torch.manual_seed(0)
    rnn = MANN(MemoryCell(LSTMController(4, 6), EVERY_MEMORY[memory](), output_size=2), engine=engine)
    inputs = 1e4 * torch.randn(20, 3, 4, generator=torch.Generator().manual_seed(0))
    rnn(inputs)[0].sum().backward()
    for name, parameter in rnn.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.isfinite().all(), name


@settings(max_examples=25, deadline=None)
@given(
    steps=st.integers(0, 4),
    batch=st.integers(1, 3),
    slots=st.integers(1, 4),
    word=st.integers(1, 3),
    reads=st.integers(1, 3),
)
def test_all_sizes(steps: int, batch: int, slots: int, word: int, reads: int) -> None:
    for memory in (NTMMemory(slots, word, reads), DNCMemory(slots, word, reads)):
        output, state = MANN(MemoryCell(LSTMController(2, 3), memory))(torch.randn(steps, batch, 2))
        assert output.shape == (steps, batch, 3 + reads * word)
        assert output.isfinite().all()
        assert state.memory.reads.shape == (batch, reads, word)


@every_memory_and_engine
def test_unbatched_and_batch_first(memory: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(6, 2, 4)
    output, state = rnn(inputs)
    alone, alone_state = rnn(inputs[:, 0])
    assert_same(alone, output[:, 0])
    assert_same(alone_state, map_state(lambda part: part[0], state))
    more, _ = rnn(inputs[:, 0], alone_state)
    again, _ = rnn(inputs, state)
    assert_same(more, again[:, 0])
    rnn.batch_first = True
    swapped, swapped_state = rnn(inputs.transpose(0, 1))
    assert_same(swapped, output.transpose(0, 1))
    assert_same(swapped_state, state)


@every_memory
def test_cell_is_one_step_of_the_sequence(memory: str) -> None:
    rnn, inputs = make_rnn(memory), random_input(3, 2, 4)
    output, final = rnn(inputs)
    state = None
    for step in range(3):
        at_step, state = rnn.cell(inputs[step], state)
        assert_same(at_step, output[step])
    assert_same(state, final)
    alone, _ = rnn.cell(inputs[0, 0])
    assert_same(alone, output[0, 0])


@every_cell
def test_copies_are_the_same_model(memory: str, controller: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, controller, engine=engine), random_input(4, 2, 4)
    expected, _ = rnn(inputs)
    other = make_rnn(memory, controller, seed=5, engine=engine)
    other.load_state_dict(rnn.state_dict())
    for twin in (copy.deepcopy(rnn), pickle.loads(pickle.dumps(rnn)), other):
        assert_same(twin(inputs)[0], expected)
    twin = copy.deepcopy(rnn)
    twin.reset_parameters()
    assert not torch.allclose(twin(inputs)[0], expected)
    assert_same(rnn(inputs)[0], expected)


def test_reset_parameters_repeats_the_initialisation() -> None:
    for memory in EVERY_MEMORY.values():
        torch.manual_seed(3)
        rnn = MANN(MemoryCell(LSTMController(4, 6, learned_state=True), memory(), output_size=2))
        torch.manual_seed(3)
        rnn.reset_parameters()
        first = copy.deepcopy(rnn.state_dict())
        torch.manual_seed(3)
        rnn.reset_parameters()
        assert_same(rnn.state_dict(), first)


@every_memory
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtype_of_the_controller_is_that_of_the_cell(memory: str, dtype: torch.dtype) -> None:
    rnn = MANN(MemoryCell(LSTMController(4, 6, dtype=dtype), EVERY_MEMORY[memory](), output_size=2))
    assert {part.dtype for part in (*rnn.parameters(), *rnn.buffers())} == {dtype}
    output, state = rnn(torch.randn(3, 2, 4, dtype=dtype))
    assert output.dtype == dtype
    assert {part.dtype for part in parts_of(state)} == {dtype}
    meta = MANN(MemoryCell(LSTMController(4, 6, device="meta"), EVERY_MEMORY[memory](), output_size=2))
    assert {part.device.type for part in (*meta.parameters(), *meta.buffers())} == {"meta"}


@every_memory
@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_autocast_keeps_the_state_in_full_precision(memory: str, half: torch.dtype) -> None:
    rnn, inputs = make_rnn(memory).float(), random_input(12, 3, 4).float()
    exact, _ = rnn(inputs)
    with torch.autocast("cpu", dtype=half):
        output, state = rnn(inputs)
    assert output.dtype == half
    assert {part.dtype for part in parts_of(state)} == {torch.float32}
    torch.testing.assert_close(output.float(), exact, rtol=0.1, atol=0.3)
    output.float().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in rnn.parameters())


def test_readable_repr() -> None:
    text = repr(make_rnn("dnc"))
    assert "DNCMemory(slots=5, word=3, reads=2, links=True)" in text
    assert "LinearInterface(in_features=6, out_features=28, bias=True)" in text
    assert "4, 6, read_size=6, learned_state=True" in text


def test_without_output_size_features_come_out() -> None:
    cell = MemoryCell(LSTMController(4, 6), DNCMemory(5, 3, 2))
    output, state = cell(torch.randn(2, 4))
    assert cell.output_size == output.shape[1] == 12
    assert_same(output, torch.cat([state.controller.hidden, state.memory.reads.flatten(1)], dim=1))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (torch.zeros(3, dtype=torch.float64), r"expected input to be 2D or 3D, got 1D: \(3,\)"),
        (torch.zeros(2, 2, 5, dtype=torch.float64), r"input.size\(-1\) must be equal to input_size: expected 4, got 5"),
    ],
)
def test_wrong_shapes(inputs: torch.Tensor, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make_rnn("dnc")(inputs)


def test_wrong_state_lengths_and_controllers() -> None:
    rnn, inputs = make_rnn("dnc"), random_input(3, 2, 4)
    with pytest.raises(UserError, match="expected a state for a batch of 2, got one for 3"):
        rnn(inputs, rnn.cell.init_state(3))
    with pytest.raises(UserError, match=r"expected lengths of shape \(2,\), got \(3,\)"):
        rnn(inputs, lengths=torch.tensor([1, 2, 3]))
    with pytest.raises(UserError, match="lengths must lie between 0 and 3"):
        rnn(inputs, lengths=torch.tensor([1, 4]))
    with pytest.raises(UserError, match="a PackedSequence carries its lengths"):
        rnn(pack_padded_sequence(inputs, torch.tensor([3, 3])), lengths=torch.tensor([3, 3]))
    with pytest.raises(UserError, match="already belongs to a cell"):
        MemoryCell(rnn.cell.controller, DNCMemory(2, 2))


def test_a_long_sequence_without_gradients_is_run_in_parts_and_gives_the_same() -> None:
    torch.manual_seed(0)
    rnn = MANN(MemoryCell(LSTMController(2, 5), NTMMemory(4, 3), output_size=2, writing=UniformWriting(7))).double()
    inputs, lengths = torch.randn(2 * AT_ONCE + 100, 3, 2).double(), torch.tensor([2 * AT_ONCE + 7, 0, AT_ONCE])
    for asked in (None, lengths):
        whole, state = rnn(inputs, lengths=asked)
        with torch.no_grad():
            parts, state_of_parts = rnn(inputs, lengths=asked)
        assert_same(parts, whole.detach())
        assert_same(state_of_parts, detach(state))


@pytest.mark.parametrize(("memory", "engine"), [("ntm", "native"), ("dnc", "reference"), ("stack", "reference")])
@pytest.mark.usefixtures("unchecked")
def test_replayed_steps_have_the_same_gradients(memory: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(11, 3, 4).requires_grad_()
    wanted = [inputs, *rnn.parameters()]
    for lengths in (None, torch.tensor([11, 0, 6])):
        found = []
        for replay in (None, 4, 20):
            rnn.replay = replay
            output, state = rnn(inputs, lengths=lengths)
            loss = output.square().sum() + sum(part.square().sum() for part in parts_of(state) if part.requires_grad)
            found.append([output, *torch.autograd.grad(loss, wanted, allow_unused=True)])
        for other in found[1:]:
            assert_same(other, found[0])
    with pytest.raises(UserError, match="replay must be at least 1, got 0"):
        MANN(rnn.cell, replay=0)
    assert "replay=20" in repr(rnn)


def test_replayed_steps_have_the_same_noise_and_are_recorded_once() -> None:
    """Programs are drawn at every step."""
    config = ModelConfig(name="nutm", hidden=5, slots=4, word=3, heads=1, programs=3, program_choice="gumbel")
    rnn = build_model(config, 2, 2)
    assert isinstance(rnn, MANN)
    inputs, gradients = torch.randn(10, 2, 2), []
    for replay in (3, None):
        rnn.replay = replay
        torch.manual_seed(1)
        loss = rnn(inputs)[0].square().sum()
        torch.manual_seed(2)
        gradients.append(torch.autograd.grad(loss, list(rnn.parameters()), allow_unused=True))
    torch.testing.assert_close(*gradients)
    rnn.replay = 3
    with record_trace(rnn) as trace:
        rnn(inputs)[0].sum().backward()
    assert [len(trace[cell]) for cell in trace] == [10]


@pytest.mark.parametrize("engine", ["native", "reference"])
@pytest.mark.parametrize("lengths", [None, torch.tensor([0, 0])])
def test_a_sequence_of_no_steps(engine: Engine, lengths: torch.Tensor | None) -> None:
    rnn = MANN(MemoryCell(LSTMController(4, 6), DNCMemory(5, 3), output_size=2), engine=engine)
    output, _ = rnn(torch.zeros(0, 2, 4), lengths=lengths)
    assert output.shape == (0, 2, 2)
