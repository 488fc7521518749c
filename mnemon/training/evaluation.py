"""Measuring a model on held-out settings, without leaving a trace in its training."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mnemon.tasks.base import Batch, CountingTask, FiniteTask, PooledTask, Task
from mnemon.tasks.guided import Guided
from mnemon.training.batches import answer, answer_with_losses
from mnemon.training.seeding import batch_seed, generator_from, seed_noise

LARGEST_EXPONENT = 700.0  # of e, that a number can hold

# Sequences that go through the model together: enough to be fast, and a thousand long ones still fit in memory.
LARGEST_BATCH = 64


class Evaluation(NamedTuple):
    """Means over the sequences of a held-out set."""

    loss: float
    metrics: dict[str, float]


def evaluate(model: nn.Module, task: Task, *, name: str, sequences: int, seed: int) -> Evaluation:
    """The same ``sequences`` sequences at every call with the same name and seed, whatever the model.

    A task over a finite set is gone through whole instead. Counts are added up, pooled answers measured together, and
    other metrics averaged. A guided test feeds the model the right tokens.
    """
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    stream = f"eval {name}"
    bounds = _Bounds() if isinstance(task, Guided) else None
    if isinstance(task, Guided):
        task = task.task
    count, losses = 0, 0.0
    sums: defaultdict[str, float] = defaultdict(float)
    pooled: list[Any] = []
    with torch.no_grad(), _eval_mode(model):
        for number, batch in enumerate(_batches(task, sequences, seed, stream)):
            placed = batch.to(device)
            seed_noise(seed, stream, number)
            rows = batch.mask.shape[1]
            if bounds is None:
                output = answer(model, placed)
            else:
                output, own = answer_with_losses(model, placed, teacher=1.0)
                bounds.add(float(task.loss(output, placed)), own, float(batch.mask.sum()), rows)
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
        metrics = task.measure(pooled)
    else:
        metrics = task.rates(sums) if isinstance(task, CountingTask) else {name: sums[name] / count for name in sums}
    return Evaluation(losses / count, metrics if bounds is None else metrics | bounds.metrics())


class _Bounds:
    """What a guided test says of likelihoods: sums over all asked tokens, so that batches count by their tokens."""

    def __init__(self) -> None:
        self._nats = self._asked = self._rows = 0.0
        self._losses: defaultdict[str, float] = defaultdict(float)

    def add(self, loss: float, own: Mapping[str, Tensor], asked: float, rows: int) -> None:
        """A batch: the mean cross-entropy of its asked tokens, and the model's own losses, which are means as well."""
        for name, value in own.items():
            self._losses[name] += asked * float(value)
        self._nats += asked * loss
        self._asked += asked
        self._rows += rows

    def metrics(self) -> dict[str, float]:
        """The model's own losses, and the bounds."""
        nats = self._nats + sum(self._losses.values())
        own = {name: value / self._asked for name, value in self._losses.items()}
        return own | {"elbo": -nats / self._rows, "perplexity_bound": _exp(nats / self._asked)}


def _exp(nats: float) -> float:
    return math.exp(nats) if nats < LARGEST_EXPONENT else math.inf


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
