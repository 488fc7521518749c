"""A stream without end through an exported step: the loop is yours, and memory does not grow with time.

A DNC is exported as one step. The program takes an input and the tensors of a state, and gives an output and those of
the next state; nothing else is kept. What it says is what the network says of the whole sequence at once.

Run with: python examples/streaming_step.py, or with the number of steps behind it
"""

import resource
import sys

import torch

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell
from mnemon.sharing.step import Step, export_step

COMPARED = 200  # steps that the network also runs at once


def megabytes() -> float:
    """The most memory that the process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(steps: int = 100_000) -> float:
    """Stream, compare, and give the growth of memory in megabytes after the first tenth."""
    torch.manual_seed(0)
    cell = MemoryCell(LSTMController(4, 32), DNCMemory(slots=16, word=8, reads=2), output_size=3)
    step, generator = export_step(cell).module(), torch.Generator().manual_seed(1)
    state, said, heard, before = Step(cell).init_state(1), [], [], 0.0
    with torch.inference_mode():
        for number in range(steps):
            inputs = torch.randn(1, 4, generator=generator)
            output, *state = step(inputs, *state)
            if number < COMPARED:
                heard.append(inputs)
                said.append(output)
            if number == steps // 10:
                before = megabytes()
        expected, _ = MANN(cell)(torch.stack(heard))
    torch.testing.assert_close(torch.stack(said), expected, atol=1e-5, rtol=1e-4)
    assert all(bool(part.isfinite().all()) for part in state)
    print(f"{COMPARED} steps are those of the network; the state is {sum(part.nbytes for part in state):,} bytes")
    print(f"{steps:,} steps; {megabytes() - before:.1f} MB more after the last than after the first tenth")
    return megabytes() - before


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
