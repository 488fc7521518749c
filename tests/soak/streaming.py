"""Inference one step at a time, for as long as anybody likes: memory stays flat, and the state finite and bounded."""

import torch

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell
from mnemon.cell import CellState
from mnemon.rnn import Engine
from mnemon.state import map_state
from tests.soak.growth import usage

WARM_UP = 1_000  # steps after which all that is made once has been made
CHANGES = 100  # steps after which the inputs have another size, and between two looks at the state


def stream(engine: Engine, steps: int, warm_up: int = WARM_UP) -> float:
    """Take so many steps, each with the state of the one before; by which share the memory of the process grew."""
    torch.manual_seed(0)
    rnn = MANN(MemoryCell(LSTMController(4, 16), DNCMemory(8, 8, 2), output_size=3), engine=engine).eval()
    generator = torch.Generator().manual_seed(0)
    state = rnn.cell.init_state(1)
    with torch.inference_mode():
        for step in range(steps + warm_up):
            if step == warm_up:
                before = usage()
            inputs = torch.randn(1, 1, 4, generator=generator) * 10.0 ** (step // CHANGES % 5)  # up to ±1e4 and more
            output, state = rnn(inputs, state)
            if step % CHANGES == 0:
                _check(output, state)
    return usage().growth_since(before)


def _check(output: torch.Tensor, state: CellState) -> None:
    """All is finite, and what is written at a step is no more than one slot's worth."""
    assert output.isfinite().all()
    map_state(_finite, state)
    assert state.memory.write_weights.sum() <= 1 + 1e-4


def _finite(part: torch.Tensor) -> torch.Tensor:
    assert part.isfinite().all()
    return part
