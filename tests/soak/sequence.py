"""Training on one very long sequence, whose steps are played again in the backward pass."""

import os
from collections.abc import Callable

import torch

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell
from mnemon.native import pool
from tests.soak.growth import peak


def train_once(steps: int, replay: int | None, batch: int = 1) -> int:
    """A step of training on a sequence of so many; the peak of the process in kilobytes."""
    torch.manual_seed(0)
    rnn = MANN(MemoryCell(LSTMController(8, 64), DNCMemory(32, 16, 2), output_size=8), replay=replay)
    optimiser = torch.optim.SGD(rnn.parameters(), lr=1e-3)
    output, _ = rnn(torch.randn(steps, batch, 8))
    output.square().mean().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in rnn.parameters())
    optimiser.step()
    return peak()


def growth_of_peak(steps: int, replay: int | None) -> int:
    """By how many kilobytes a long sequence raises the peak of a process that has trained on a short one."""
    before = train_once(300, replay, batch=4)
    return train_once(steps, replay, batch=4) - before


def in_a_process(function: Callable[[], int]) -> int:
    """What a function returns in a process of its own, which begins with what this one has now."""
    pool.clear()
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.write(writing, str(function()).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(process, 0)
    with os.fdopen(reading) as pipe:
        assert os.waitstatus_to_exitcode(status) == 0
        return int(pipe.read())
