"""Measuring a model on held-out settings, without leaving a trace in its training."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn

from mnemon.tasks.base import Batch, CountingTask, FiniteTask, PooledTask, Task
from mnemon.training.batches import answer
from mnemon.training.seeding import batch_seed, generator_from, seed_noise

# Sequences that go through the model together: enough to be fast, and a thousand long ones still fit in memory.
LARGEST_BATCH = 64


class Evaluation(NamedTuple):
    """Means over the sequences of a held-out set."""

    loss: float
    metrics: dict[str, float]


def evaluate(model: nn.Module, task: Task, *, name: str, sequences: int, seed: int) -> Evaluation:
    """The same ``sequences`` sequences at every call with the same name and seed, whatever the model.

    A task over a finite set is gone through whole instead. Counts are added up, pooled answers measured together, and
    other metrics averaged.
    """
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    stream = f"eval {name}"
    count, losses = 0, 0.0
    sums: defaultdict[str, float] = defaultdict(float)
    pooled: list[Any] = []
    with torch.no_grad(), _eval_mode(model):
        for number, batch in enumerate(_batches(task, sequences, seed, stream)):
            placed = batch.to(device)
            seed_noise(seed, stream, number)
            output = answer(model, placed)
            rows = batch.mask.shape[1]
            count += rows
            losses += rows * task.loss(output, placed).item()
            if isinstance(task, PooledTask):
                pooled.append(task.pool(output, placed))
            elif isinstance(task, CountingTask):
                for counted, value in task.counts(output, placed).items():
                    sums[counted] += value
            else:
                for metric, value in task.metrics(output, placed).items():
                    sums[metric] += rows * value
    if isinstance(task, PooledTask):
        return Evaluation(losses / count, task.measure(pooled))
    metrics = task.rates(sums) if isinstance(task, CountingTask) else {name: sums[name] / count for name in sums}
    return Evaluation(losses / count, metrics)


def _batches(task: Task, sequences: int, seed: int, stream: str) -> Iterator[Batch]:
    """The whole of a finite set, or so many sequences drawn afresh."""
    if isinstance(task, FiniteTask):
        yield from task.examples(LARGEST_BATCH)
        return
    for number, start in enumerate(range(0, sequences, LARGEST_BATCH)):
        rows = min(LARGEST_BATCH, sequences - start)
        yield task.sample(rows, generator_from(batch_seed(seed, stream, number)))


@contextmanager
def _eval_mode(model: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while; each part goes back to its own, as some may be frozen during training."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
