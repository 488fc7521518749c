"""bAbI by sentences: memory networks, a Transformer and an LSTM beside each other (thesis §3.3.2 and §3.2.3).

The thesis describes these models and has no table of them, so the settings are ours: Adam, batches of 64, a rate that
falls to zero over the last half of the steps, and vectors of 50 numbers, as published for all tasks together. A memory
network sees each question nine times on average, where its paper has sixty. The Transformer and the LSTM read words
rather than sentences, take some times as long for a step, and are given fewer: a quarter of an hour for each model on
one core. What the thesis quotes of others on bAbI was learnt word by word, and is beside them for its size only.
"""

import dataclasses

from mnemon.experiments import babi
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Literature, Reading
from mnemon.runner.sources import DataTask
from mnemon.tasks.babi import TASKS
from mnemon.training.config import TrainConfig

STEPS = 24_000  # nine times the 173,000 questions

TRAINING = TrainConfig(
    steps=STEPS,
    batch_size=64,
    optimiser="adam",
    learning_rate=3e-3,
    anneal=0.5,
    clip_value=None,
    clip_norm=40.0,
    log_every=250,
    eval_every=STEPS // 4,
    checkpoint_every=500,
)

SIZE, SENTENCES = 50, 50


def memory_network(name: str, hops: int | None = None, linear_start: float | None = None) -> ModelConfig:
    """Vectors of 50 numbers, over the last 50 sentences."""
    return ModelConfig(name=name, hidden=SIZE, slots=SENTENCES, hops=hops, linear_start=linear_start)


MEMNN = "MemNN (supporting facts given)"
MODELS: dict[str, ModelConfig] = {
    MEMNN: memory_network("memnn"),
    "MemN2N, 1 hop": memory_network("memn2n", hops=1, linear_start=0.1),
    "MemN2N, 3 hops": memory_network("memn2n", hops=3, linear_start=0.1),
    "Key-value, 3 hops": memory_network("kv-memn2n", hops=3),
    "Transformer": ModelConfig(name="transformer-encoder-decoder", heads=4, word=16, hidden=128, layers=2),
    "LSTM": ModelConfig(name="seq2seq-concatenated", hidden=128, embedding=64),
}
BY_WORDS: dict[str, int] = {"Transformer": 5_000, "LSTM": 8_000}  # steps


def training_of(model: str) -> TrainConfig:
    """MemNN goes on from the right facts; those that read words take fewer and smaller steps."""
    if model in BY_WORDS:
        steps = BY_WORDS[model]
        return dataclasses.replace(TRAINING, steps=steps, eval_every=steps // 4, learning_rate=1e-3)
    return dataclasses.replace(TRAINING, teacher=1.0) if model == MEMNN else TRAINING


def readings() -> list[Reading]:
    """The mean error, the tasks failed, and the error of each task."""
    return [
        Reading(setting="mean"),
        Reading(setting="tasks failed", metric="failed", percent=False),
        *(Reading(setting=f"{number}: {title}", metric=f"error_{number}") for number, title in TASKS.items()),
    ]


def jobs() -> list[Job]:
    """Each model on all tasks together; MemNN is asked for the facts as well."""
    return [
        Job(
            setting="20 tasks together",
            model=name,
            task=DataTask(name="babi-facts" if name == MEMNN else "babi-questions"),
            tests={},
            test="test",
            config=config,
            training=training_of(name),
            readings=readings(),
        )
        for name, config in MODELS.items()
    ]


BABI_MEMORY_NETWORKS = Experiment(
    name="babi-memory-networks",
    title="Memory networks on bAbI",
    thesis="§3.3.2, §3.2.3",
    file="mnemon/experiments/babi_memory_networks.py",
    jobs=jobs,
    metric="mean_error",
    better="lower",
    aggregate="quoted, of runs word by word",
    literature=[
        Literature(setting="mean", model=f"{name}, quoted", thesis=mean) for name, (mean, _) in babi.LITERATURE.items()
    ],
)
