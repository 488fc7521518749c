"""The native engine gives what the reference gives: outputs, final states and all gradients."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mnemon import (
    MANN,
    CachedUniformWriting,
    DNCMemory,
    LRUAMemory,
    LSTMController,
    MemoryCell,
    NoMemory,
    NTMMemory,
    RandomWriting,
    UniformWriting,
    UserError,
    WriteProtected,
    record_trace,
)
from mnemon.interface import Interface, LinearInterface, NormalisedInterface
from mnemon.memory import JoinedMemory, Memory
from mnemon.models.config import CONTROLLERS
from mnemon.native.library import LIBRARY
from mnemon.programs import LookUp, StoredProgramInterface
from mnemon.writing import Writing
from tests.native.comparison import distance, flatten, outcome
from tests.parts import WITH_KERNELS

pytestmark = pytest.mark.usefixtures("unchecked")

ROOT = Path(__file__).parents[2]

Size = tuple[int, int, list[int] | None]  # steps, batch, lengths
SIZES: list[Size] = [(1, 1, None), (63, 3, None), (20, 11, [0, 20, 1, 7, 3, 0, 19, 12, 20, 5, 8])]
SHORT = SIZES[2:]

MEMORIES: dict[str, Callable[[], Memory[Any, Any]]] = {
    "ntm-1": lambda: NTMMemory(1, 1),
    "ntm-5": lambda: NTMMemory(5, 3, reads=3, writes=2),
    "ntm-127": lambda: NTMMemory(127, 7, reads=1, writes=1, read_first=True),
    "ntm-wide": lambda: NTMMemory(16, 20, reads=5, writes=3, shift_reach=2, read_first=True),
    "ntm-learned-start": lambda: NTMMemory(5, 3, reads=2, writes=1, learned_start=True),
    "ntm-few": lambda: NTMMemory(3, 21, reads=3, writes=2),  # few slots lie slot by slot
    "dnc-1": lambda: DNCMemory(1, 1),
    "dnc-5": lambda: DNCMemory(5, 3, reads=3),
    "dnc-127": lambda: DNCMemory(127, 7, reads=2, read_first=True),
    "dnc-few": lambda: DNCMemory(6, 21, reads=7),
    "dnc-few-own": lambda: DNCMemory(5, 17, reads=2, own=(2, 4)),
    "dnc-no-links": lambda: DNCMemory(16, 20, reads=5, links=False),
    "dnc-masked": lambda: DNCMemory(5, 3, reads=2, masked_lookup=True),
    "dnc-erasing": lambda: DNCMemory(5, 3, reads=2, erase_freed=True, clip=0.5),
    "dnc-sharp": lambda: DNCMemory(5, 3, reads=2, sharp_links=True, clip=None),
    "dnc-own": lambda: DNCMemory(7, 3, reads=2, own=(2, 5)),
    "dnc-repaired": lambda: DNCMemory(17, 9, reads=4, masked_lookup=True, erase_freed=True, sharp_links=True),
    "joined": lambda: JoinedMemory([DNCMemory(5, 3, reads=2), DNCMemory(5, 3, reads=2)]),
    "joined-repaired": lambda: JoinedMemory(
        [DNCMemory(17, 7, masked_lookup=True, erase_freed=True, sharp_links=True, clip=0.5) for _ in range(3)]
    ),
    "none": NoMemory,
    "lrua-1": lambda: LRUAMemory(1, 1),
    "lrua-5": lambda: LRUAMemory(5, 3, reads=3, read_first=True),
    "lrua-127": lambda: LRUAMemory(127, 7, reads=2, strengths=False, decay=0.5),
}


def make_cell(memory: str = "ntm-5", controller: str = "lstm", **options: Any) -> MemoryCell:
    """A cell whose weights single precision holds exactly, in double precision."""
    torch.manual_seed(0)
    cell = MemoryCell(CONTROLLERS[controller](4, 9), MEMORIES[memory](), output_size=3, **options)
    if controller == "layer-norm-lstm":  # whose own beginning is so small that single precision hardly holds its slopes
        for weight in cell.controller.weight_ih, cell.controller.weight_hh:
            assert weight is not None
            torch.nn.init.uniform_(weight, -1 / 3, 1 / 3)
    if isinstance(cell.interface, NormalisedInterface):
        torch.nn.init.normal_(cell.interface.norm_gain)
        torch.nn.init.normal_(cell.interface.norm_bias)
    return cell.double()


@pytest.mark.parametrize(
    ("memory", "controller"), [*itertools.product(MEMORIES, WITH_KERNELS), ("ntm-5", "original-lstm")]
)
def test_native_is_reference(memory: str, controller: str) -> None:
    """All sizes with one controller, and every pair of both at one."""
    sizes, protection = (SIZES, [False, True]) if controller == "lstm" else (SHORT, [False])
    for size, protected in itertools.product(sizes, protection):
        cell = make_cell(memory, controller, writing=WriteProtected() if protected else None)
        exact = outcome(cell, "reference", *size)
        assert distance(exact, outcome(cell, "native", *size)) < 1e-9, (size, protected)
        # In single precision both engines round, over many steps by more than 1e-5: the kernels no worse than torch.
        cell.float()
        rounding = distance(exact, outcome(cell, "reference", *size))
        assert distance(exact, outcome(cell, "native", *size)) < max(1e-5, 10 * rounding), (size, protected)


WRITINGS: dict[str, Callable[[], Writing[Any]]] = {
    "uniform": lambda: UniformWriting(interval=3),
    "uniform-reading": lambda: UniformWriting(interval=4, length=13, hold_reads=False),
    "random": lambda: RandomWriting(slots=4, length=15),
    "cached": lambda: CachedUniformWriting(interval=4, attention_size=17),
    "cached-encoder": lambda: CachedUniformWriting(interval=9, length=20, hold_reads=False),
}


@pytest.mark.parametrize("controller", ["lstm", "gru"])
@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("memory", ["ntm-5", "dnc-repaired", "dnc-5", "lrua-5", "joined"])
def test_native_is_reference_under_every_writing_policy(memory: str, writing: str, controller: str) -> None:
    for size in SIZES if controller == "lstm" else SHORT:
        cell = make_cell(memory, controller, writing=WRITINGS[writing]())
        assert distance(outcome(cell, "reference", *size), outcome(cell, "native", *size)) < 1e-9, size


@pytest.mark.parametrize("lengths", [[9, 8, 9, 6], [3, 0, 2, 1], [0, 0, 0, 0]], ids=str)
def test_native_is_reference_whatever_the_lengths(lengths: list[int]) -> None:
    for memory in ("ntm-5", "dnc-5", "none"):
        cell = make_cell(memory, "lstm")
        assert distance(outcome(cell, "reference", 9, 4, lengths), outcome(cell, "native", 9, 4, lengths)) < 1e-9


INTERFACES: dict[str, Callable[[], Interface]] = {
    "one": lambda: StoredProgramInterface(1, 1),
    "three": lambda: StoredProgramInterface(3, 2),
    "unbiased": lambda: StoredProgramInterface(2, 5, bias=False, look_up=LookUp(similarity="tanh-cosine")),
    "drawn": lambda: StoredProgramInterface(3, 3, look_up=LookUp(choice="gumbel", temperature=0.7)),
    "normalised": lambda: NormalisedInterface(LinearInterface()),
    "normalised-three": lambda: NormalisedInterface(StoredProgramInterface(3, 2, query_bias=False)),
}


@pytest.mark.parametrize("writing", [None, "uniform", "cached"])
@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("memory", ["ntm-5", "dnc-repaired", "dnc-5", "lrua-5", "none"])
def test_native_is_reference_with_every_interface(memory: str, interface: str, writing: str | None) -> None:
    for size, controller, training in itertools.product(SHORT, ["lstm", "gru"], [False, True]):
        policy = None if writing is None else WRITINGS[writing]()
        cell = make_cell(memory, controller, interface=INTERFACES[interface](), writing=policy).train(training)
        outcomes = []
        for engine in ("reference", "native"):
            torch.manual_seed(0)  # of the draws
            outcomes.append(outcome(cell, engine, *size))
        assert distance(*outcomes) < 1e-9, (size, controller, training)


@pytest.mark.parametrize("other", [DNCMemory(4, 3), DNCMemory(5, 3, links=False), NTMMemory(5, 3)])
def test_joined_memories_that_differ_take_native_steps(other: Memory[Any, Any]) -> None:
    cell = MemoryCell(LSTMController(4, 9), JoinedMemory([DNCMemory(5, 3), other]), output_size=3).double()
    rnn = MANN(cell)
    rnn(torch.randn(2, 1, 4, dtype=torch.float64))
    assert rnn.engine_used == ("native memory", "no kernel for joined memories but DNCs that are alike")
    assert distance(outcome(cell, "reference", *SIZES[2]), outcome(cell, "auto", *SIZES[2])) < 1e-9


class OwnController(LSTMController):
    """A user's own: no kernel knows it."""


@pytest.mark.parametrize("protected", [False, True])
@pytest.mark.parametrize("memory", MEMORIES)
def test_a_controller_of_ones_own_has_native_memory_steps(memory: str, protected: bool) -> None:
    torch.manual_seed(0)
    writing = WriteProtected() if protected else None
    cell = MemoryCell(OwnController(4, 9), MEMORIES[memory](), output_size=3, writing=writing).double()
    rnn = MANN(cell)
    rnn(torch.randn(2, 1, 4, dtype=torch.float64))
    assert rnn.engine_used == ("native memory", "no kernel for OwnController")
    for size in SIZES:
        assert distance(outcome(cell, "reference", *size), outcome(cell, "auto", *size)) < 1e-9, size


@pytest.mark.parametrize("writing", [None, "uniform", "cached"])
@pytest.mark.parametrize("memory", ["ntm-5", "dnc-repaired", "lrua-5"])
def test_a_trace_is_the_same_on_both_engines(memory: str, writing: str | None) -> None:
    cell = make_cell(memory, writing=WRITINGS[writing]() if writing else None)
    inputs, lengths = torch.randn(6, 3, 4, dtype=torch.float64), torch.tensor([6, 0, 4])
    traces = []
    for engine in ("native", "reference"):
        rnn = MANN(cell, engine=engine)
        with record_trace(rnn) as trace:
            rnn(inputs, lengths=lengths)
        assert rnn.engine_used is not None
        assert rnn.engine_used.name == engine
        traces.append([*flatten(trace.interface), *flatten(trace.state)])
    torch.testing.assert_close(*traces)


def test_any_number_of_threads_gives_the_same() -> None:
    cell = make_cell().float()
    inputs = torch.randn(30, 13, 4)
    outputs = []
    for threads in (1, 2, 3, 2):
        torch.set_num_threads(threads)
        rnn = MANN(cell, engine="native")
        output, _ = rnn(inputs)
        outputs.append(
            torch.cat(
                [output.flatten(), *(g.flatten() for g in torch.autograd.grad(output.sum(), list(cell.parameters())))]
            )
        )
    torch.set_num_threads(1)
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(outputs[1], outputs[3], rtol=0, atol=0)


def test_lengths_may_be_part_of_a_larger_tensor() -> None:
    cell, inputs = make_cell(), torch.randn(5, 3, 4).double()
    apart = torch.tensor([5, 0, 2, 0, 4, 0])[::2]
    one, other = (MANN(cell, engine="native")(inputs, lengths=lengths)[0] for lengths in (apart, apart.clone()))
    torch.testing.assert_close(one, other, rtol=0, atol=0)
    assert not one[4, 1].any()


def test_without_gradients_nothing_is_kept() -> None:
    rnn = MANN(make_cell().float(), engine="native")
    inputs = torch.randn(7, 3, 4)
    expected, state = rnn(inputs)
    with torch.no_grad():
        output, other = rnn(inputs)
    torch.testing.assert_close(output, expected, rtol=0, atol=0)
    torch.testing.assert_close(flatten(other), flatten(state), rtol=0, atol=0)
    assert not output.requires_grad


def test_interface_without_bias() -> None:
    cell = make_cell(interface=LinearInterface(bias=False))
    assert distance(outcome(cell, "reference", 5, 2, None), outcome(cell, "native", 5, 2, None)) < 1e-9


def test_engine_used_says_which_and_why() -> None:
    cell, inputs = make_cell().float(), torch.randn(2, 1, 4)
    rnn = MANN(cell)
    assert rnn.engine_used is None
    rnn(inputs)
    assert rnn.engine_used == ("native", "covers this cell")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rnn(inputs)
    assert rnn.engine_used == ("reference", "autocast is on")
    reference = MANN(cell, engine="reference")
    reference(inputs)
    assert reference.engine_used == ("reference", "asked for")
    forced = MANN(cell, engine="native")
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(UserError, match="autocast is on; write engine="):
        forced(inputs)
    with pytest.raises(UserError, match="engine must be one of auto, native, reference, got 'fast'"):
        MANN(cell, engine="fast")  # type: ignore[arg-type]


def test_more_heads_than_the_kernels_have_room_for() -> None:
    rnn = MANN(MemoryCell(LSTMController(2, 3), NTMMemory(3, 2, reads=65)))
    rnn(torch.randn(2, 1, 2))
    assert rnn.engine_used == ("reference", "the kernels have at most 64 heads")


def test_double_backward_says_what_to_do() -> None:
    cell = make_cell()
    inputs = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
    for first in (inputs, cell.controller.weight_ih):
        output, _ = MANN(cell, engine="native")(inputs)
        (gradient,) = torch.autograd.grad(output.sum(), first, create_graph=True)
        with pytest.raises(RuntimeError, match="engine='reference'"):
            torch.autograd.grad(gradient.sum(), first)
    output, _ = MANN(cell, engine="reference")(inputs)
    (gradient,) = torch.autograd.grad(output.sum(), inputs, create_graph=True)
    assert torch.autograd.grad(gradient.sum(), inputs)[0].isfinite().all()


LEAK = """
import gc, resource, torch
from mnemon import MANN
from tests.native.test_engine import make_cell

rnn = MANN(make_cell().float(), engine="native")
inputs = torch.randn(10, 4, 4)

def take(steps):
    for _ in range(steps):
        rnn(inputs)[0].sum().backward()
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

settled = take(500)
print(take(9_500) - settled)
"""


def test_no_leak() -> None:
    """In a process of its own: in that of the tests other things grow."""
    done = subprocess.run([sys.executable, "-c", LEAK], capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(done.stdout) < 4_000  # kilobytes, for ten thousand steps


def test_the_kernels_are_built() -> None:
    assert LIBRARY is not None, "built by pip install; a compiler is missing?"
