"""Uniform writing with a bigger memory (thesis, appendix to chapter 6): copy of 500 tokens with 50 slots."""

import dataclasses

from mnemon.experiments.optimal_writing import DNC, TRAINING, UW, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.tokens import TokenCopy

SLOTS = 50
LENGTH = 500
MODELS = tuple(dataclasses.replace(model, hidden=128, parameters=None) for model in (DNC, UW))
LONG_TRAINING = dataclasses.replace(
    TRAINING, steps=100_000, batch_size=32, log_every=1_000, eval_every=5_000, eval_sequences=256
)

THESIS: dict[str, float] = {"DNC": 24.19, "DNC+UW": 81.45}


def jobs() -> list[Job]:
    """100,000 batches of 32."""
    return jobs_of_setting(
        f"copy L={LENGTH}",
        TokenCopy(length=LENGTH),
        MODELS,
        slots=SLOTS,
        length=LENGTH + 1,
        thesis=THESIS,
        training=LONG_TRAINING,
    )


BIG_MEMORY = Experiment(
    name="big-memory",
    title="Uniform writing with a bigger memory: copy of 500 tokens",
    thesis="chapter 6, appendix, “UW Performance on Bigger Memory”",
    file="mnemon/experiments/big_memory.py",
    jobs=jobs,
)
