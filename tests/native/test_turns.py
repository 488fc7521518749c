"""Cells in turns at one memory: the kernels against the loop of steps, and where they leave it to that loop."""

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from mnemon.cell import MemoryCell
from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)
from mnemon.errors import UserError
from mnemon.interface import HeadwiseInterface, Interface, LinearInterface
from mnemon.memory import DNCMemory, WriteCache
from mnemon.models.encoder import EarlyFusion, ViewEncoder
from mnemon.programs import StoredProgramInterface
from mnemon.rnn import Engine
from mnemon.state import map_state
from mnemon.trace import record_trace
from mnemon.writing import UniformWriting
from tests.native.comparison import distance, flatten

TOKENS, SLOTS, WORD = 7, 4, 3  # slots of one view
CONTROLLERS: dict[str, Callable[[int, int], Controller[Any]]] = {
    "lstm": LSTMController,
    "lstm without forgetting": OriginalLSTMController,
    "gru": GRUController,
    "elman": ElmanController,
    "feed-forward": FeedForwardController,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two heads": {"reads": 2},
    "without links": {"links": False},
    "repaired": {"masked_lookup": True, "erase_freed": True, "sharp_links": True},
    "reads first": {"read_first": True},
    "clipped": {"clip": 1.0},
    "unbounded": {"clip": None},
}
# Steps of each view, and the lengths of its rows; None: all of them.
SHAPES: list[tuple[tuple[int, ...], tuple[list[int] | None, ...]]] = [
    ((5,), (None,)),
    ((9, 9), (None, None)),
    ((3, 10), (None, [0, 10, 4])),
    ((6, 2), ([6, 0, 3], [2, 1, 0])),
    ((4, 0, 12), ([1, 4, 0], None, [12, 0, 0])),
    ((1, 1, 1, 1, 1), (None,) * 5),
    ((0, 0), (None, None)),
]


def fused(
    count: int,
    controller: Callable[[int, int], Controller[Any]] = LSTMController,
    interface: Callable[[], Interface] | None = None,
    **options: Any,
) -> EarlyFusion:
    """Views that share their reading, as the models do, with weights that make something happen."""
    torch.manual_seed(count)
    reading = LinearInterface(bias=False)
    views = []
    for view in range(count):
        own = (view * SLOTS, (view + 1) * SLOTS)
        memory = WriteCache(DNCMemory(count * SLOTS, WORD, own=own, **options))
        steering = interface() if interface else HeadwiseInterface([reading, LinearInterface()])
        views.append(ViewEncoder(TOKENS, MemoryCell(controller(5, 6), memory, interface=steering)))
    encoder = EarlyFusion(views).double()
    for weight in encoder.parameters():
        torch.nn.init.normal_(weight, std=0.6)
    return encoder


def outcome(encoder: EarlyFusion, engine: Engine, steps: Any, lengths: Any) -> list[Tensor]:
    """What comes out, from memories away from their start, and the gradients of weights and memories."""
    generator = torch.Generator().manual_seed(3)

    def random(part: Tensor) -> Tensor:
        return torch.randn(part.shape, generator=generator, dtype=torch.float64)

    def disturb(part: Tensor) -> Tensor:
        return (part + random(part).abs() / (1 + part.shape[-1])).requires_grad_()

    batch = 3
    views = [torch.randint(TOKENS, (number, batch), generator=generator) for number in steps]
    asked = [None if each is None else torch.tensor(each) for each in lengths]
    memories = [map_state(disturb, cell.init_state(batch).memory) for cell in cells_of(encoder)]
    shared = memories[0].memory
    memories = [each._replace(memory=shared._replace(**_own(each.memory))) for each in memories]
    encoder.engine = engine
    encoded = encoder(views, asked, memories)
    parts = [*flatten(encoded.controllers), *flatten(encoded.memories), *encoded.outputs]
    total = torch.stack([(part * random(part)).sum() for part in parts]).sum()
    leaves = [*encoder.parameters(), *flatten(tuple(memories))]
    gradients = torch.autograd.grad(total, leaves, allow_unused=True)
    used = [torch.zeros_like(leaf) if part is None else part for leaf, part in zip(leaves, gradients, strict=True)]
    return [part.detach() for part in (*parts, *used)]


def cells_of(encoder: EarlyFusion) -> list[MemoryCell]:
    """The cell of each view."""
    return [cast(ViewEncoder, view).cell for view in encoder.views]


def _own(state: Any) -> dict[str, Tensor]:
    return {name: getattr(state, name) for name in ("precedence", "read_weights", "reads")}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_kernels_are_the_loop(controller: str, shape: tuple[Any, Any]) -> None:
    encoder = fused(len(shape[0]), CONTROLLERS[controller])
    assert distance(outcome(encoder, "reference", *shape), outcome(encoder, "native", *shape)) < 1e-9
    assert encoder.engine_used == ("native", "covers this cell")


@pytest.mark.parametrize("options", OPTIONS)
def test_kernels_are_the_loop_with_every_option(options: str) -> None:
    for shape in SHAPES[1:5]:
        encoder = fused(len(shape[0]), **OPTIONS[options])
        assert distance(outcome(encoder, "reference", *shape), outcome(encoder, "native", *shape)) < 1e-9, shape


def test_kernels_are_the_loop_where_each_view_has_an_interface_of_its_own() -> None:
    encoder = fused(2, interface=LinearInterface)
    assert distance(outcome(encoder, "reference", *SHAPES[3]), outcome(encoder, "native", *SHAPES[3])) < 1e-9


def test_what_has_no_kernel_takes_native_memory_steps() -> None:
    uneven = fused(2)
    for cell, own in zip(cells_of(uneven), [(0, 3), (3, 8)], strict=True):
        cast(WriteCache, cell.memory).memory.own = own
    scheduled = fused(2)
    for cell in cells_of(scheduled):
        cell.writing = UniformWriting(2)
    reasons = {
        "no kernel for turns of LayerNormLSTMController": fused(2, LayerNormLSTMController),
        "no kernel for turns with StoredProgramInterface": fused(2, interface=lambda: StoredProgramInterface(2, 2)),
        "no kernel for HeadwiseInterface": fused(
            2, interface=lambda: HeadwiseInterface([StoredProgramInterface(2, 2), LinearInterface()])
        ),
        "no kernel for turns at a memory with shares that are not equal": uneven,
        "no kernel for turns with UniformWriting": scheduled,
        "the kernels let at most 5 take turns, not 6": fused(6),
    }
    for reason, encoder in reasons.items():
        shape = ((3,) * len(encoder.views), (None,) * len(encoder.views))
        assert distance(outcome(encoder, "reference", *shape), outcome(encoder, "auto", *shape)) < 1e-9
        assert encoder.engine_used == ("native memory", reason)
        with pytest.raises(UserError, match="the native engine cannot run this"):
            outcome(encoder, "native", *shape)


def test_a_trace_is_the_same_on_both_engines() -> None:
    encoder, views = fused(2), [torch.randint(TOKENS, (4, 2)), torch.randint(TOKENS, (3, 2))]
    traces = []
    for engine in ("native", "reference"):
        encoder.engine = engine
        with record_trace(encoder) as trace:
            encoder(views, [torch.tensor([4, 2]), None])
        recorded = [cell for cell in trace.values() if len(cell)]
        traces.append([part for cell in recorded for part in (*flatten(cell.interface), *flatten(cell.state))])
    assert traces[0]
    torch.testing.assert_close(*traces)
