"""Reversal and bracket matching (thesis §3.3.1): trained on short sequences, tested on those and on twice as long ones.

The thesis says of neural stacks that they solve transductions at which LSTMs falter, and prints no numbers; the
settings are ours. The memories have a feed-forward controller, which remembers nothing: what is learned is what the
memory does. All models have about as many parameters; the larger LSTM shows that more of them do not help.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.base import Task
from mnemon.tasks.brackets import Brackets
from mnemon.tasks.tokens import Reverse
from mnemon.training.config import TrainConfig

TRAINING = TrainConfig(
    steps=1_000,
    batch_size=64,
    optimiser="adam",
    learning_rate=1e-2,
    anneal=0.5,
    clip_value=None,
    clip_norm=10.0,
    log_every=50,
    eval_every=500,
    eval_sequences=1_000,
    checkpoint_every=500,
)
LENGTH = 8  # of the longest sequences trained on
SLOTS = 4 * LENGTH  # a step of the longest brackets each


def memory(name: str, hidden: int) -> ModelConfig:
    """A memory steered by what is seen and read now alone."""
    return ModelConfig(name=name, controller="feed-forward", hidden=hidden, slots=SLOTS, word=12)


MODELS: dict[str, ModelConfig] = {
    "Stack": memory("stack", 32),
    "Queue": memory("queue", 32),
    "Deque": memory("deque", 19),
    "NTM": memory("ntm", 16),
    "DNC": memory("dnc", 16),
    "LSTM": ModelConfig(name="lstm", hidden=14),
    "LSTM, 64 units": ModelConfig(name="lstm", hidden=64),
}


def reversal(length: int, shortest: int) -> Task:
    """Tokens, to be given back from the last to the first."""
    return Reverse(length=length, min_length=shortest)


def brackets(length: int, shortest: int) -> Task:
    """Words of as many pairs."""
    return Brackets(min_pairs=shortest, max_pairs=length)


class Setting(NamedTuple):
    """What is learned, and for how long."""

    task: Callable[[int, int], Task]  # of the longest and the shortest length
    training: TrainConfig


SETTINGS: dict[str, Setting] = {
    "reversal": Setting(reversal, dataclasses.replace(TRAINING, steps=2_000, anneal=0.25)),  # the plateau is long
    "brackets": Setting(brackets, dataclasses.replace(TRAINING, steps=500)),
}


def jobs() -> list[Job]:
    """Each run is read at the longest length that it was trained on, and at twice that."""
    found = []
    for setting, (task, training) in SETTINGS.items():
        tests = {f"length {length}": task(length, length) for length in (LENGTH, 2 * LENGTH)}
        found += [
            Job(
                setting=setting,
                model=name,
                task=task(LENGTH, 1),
                tests=tests,
                test=f"length {2 * LENGTH}",
                config=config,
                training=training,
                trace=name in ("Stack", "Queue", "Deque"),
                readings=[Reading(setting=f"{setting}, {test}", test=test) for test in tests],
            )
            for name, config in MODELS.items()
        ]
    return found


STACK_TRANSDUCTION = Experiment(
    name="stack-transduction",
    title="Stacks, queues and deques on reversal and bracket matching",
    thesis="§3.3.1",
    file="mnemon/experiments/stack_transduction.py",
    jobs=jobs,
    aggregate="no numbers in the thesis",
)
