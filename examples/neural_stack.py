"""A stack by degrees: rows are pushed and popped in parts, and what is read is a mixture of the topmost.

The values are a, b, c as unit vectors, so that a read shows how much of each is in it. The same pushes and pops go to a
queue, which pops and reads at the other end; with whole pushes and pops both are what every textbook has.

Run with: python examples/neural_stack.py
"""

import torch

from mnemon import QueueMemory, StackMemory
from mnemon.memory.stack import LineMemory, StackInterface

STEPS = {  # push, pop
    "by degrees": [("a", 0.8, 0.0), ("b", 0.5, 0.1), ("c", 0.9, 0.9)],
    "whole": [("a", 1.0, 0.0), ("b", 1.0, 0.0), ("c", 0.0, 1.0)],
}
NAMES = "abc"


def run(memory: LineMemory, steps: list[tuple[str, float, float]]) -> list[tuple[list[float], list[float]]]:
    """After each step: the strengths of the rows, the bottom first, and how much of a, b, c is read."""
    state, found = memory.init_state(1), []
    for name, push, pop in steps:
        value = torch.eye(len(NAMES))[NAMES.index(name)]
        told = StackInterface(value.view(1, 1, -1), torch.tensor([[push]]), torch.tensor([[pop]]))
        state = memory(told, state)
        found.append((state.strengths[0].tolist(), state.reads[0, 0].tolist()))
    return found


if __name__ == "__main__":
    for title, steps in STEPS.items():
        print(f"\n{title:<21}stack: strengths   read                 queue: strengths   read")
        after = zip(run(StackMemory(3, 3), steps), run(QueueMemory(3, 3), steps), strict=True)
        for (name, push, pop), shown in zip(steps, after, strict=True):
            line = f"pop {pop}, push {push} {name}"
            for strengths, read in shown:
                mixture = " + ".join(f"{part:.1f}{letter}" for letter, part in zip(NAMES, read, strict=True) if part)
                line += "  " + " ".join(f"{strength:.1f}" for strength in strengths) + f"        {mixture:<19}"
            print(line.rstrip())
