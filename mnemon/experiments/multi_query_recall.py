"""Multi-query associative recall at equal state (beyond the thesis; Arora et al., 2023): who can tell many pairs apart?

Each model is trained once, on 1 to 8 pairs, and tested from 2 to 16. All carry the same number of bytes from step to
step, as near as sizes allow (:func:`state_bytes`, held by a test), so what differs is how they use them. The
controllers are feed-forward: all that is recalled was held by the memory. The DNC's links leave it 8 slots, as many as
the pairs of training; NTM and LRUA have about twice as many, matrix memories none, but keys of 17 numbers.

The Transformer is there to measure by. It keeps every step, so its state grows: at the longest sequence of training it
has six times the others' (:func:`cache_bytes`), at the longest of the tests twelve times.
"""

import torch

from mnemon.experiments.ntm_tasks import training_of
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.rnn import MANN
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.state import size_in_bytes
from mnemon.tasks.catalogue import TASKS
from mnemon.training.config import TrainConfig

HIDDEN = 48
STATE_BYTES = 4 * 252  # which all models carry, within 2%
LONGEST = 3 * 8  # steps of a training sequence: the window of the LMU

TRAINING = TrainConfig(
    steps=2_400,
    batch_size=64,
    optimiser="adam",
    learning_rate=5e-3,
    anneal=0.25,
    clip_value=None,
    clip_norm=10.0,
    log_every=100,
    eval_every=1_200,
    eval_sequences=256,
    checkpoint_every=800,
)

SIZES: dict[str, tuple[str, int, int]] = {  # the model, its slots and its word
    "NTM": ("ntm", 15, 14),
    "NUTM": ("nutm", 15, 14),
    "DNC": ("dnc", 8, 17),
    "LRUA": ("lrua", 14, 14),
    "linear attention": ("linear-attention", 17, 14),
    "DeltaNet": ("deltanet", 17, 14),
    "gated DeltaNet": ("gated-deltanet", 17, 14),
    "mLSTM": ("mlstm", 17, 13),
    "SHM": ("shm", 17, 14),
    "STM": ("stm", 4, 7),
    "LMU": ("lmu", 18, 14),
}

TRANSFORMER = ModelConfig(name="transformer", hidden=HIDDEN, heads=2, word=16, layers=1)


def models() -> dict[str, ModelConfig]:
    """The models of the table."""
    cells = {
        name: ModelConfig(
            name=model,
            controller="feed-forward",
            hidden=HIDDEN,
            slots=slots,
            word=word,
            encoded=LONGEST if model == "lmu" else None,
        )
        for name, (model, slots, word) in SIZES.items()
    }
    return {"LSTM": ModelConfig(name="lstm", hidden=126), **cells, "Transformer": TRANSFORMER}


def state_bytes(config: ModelConfig, input_size: int) -> int:
    """What one sequence's past is kept in; a feed-forward controller keeps nothing."""
    model = build_model(config, input_size, 1)
    with torch.no_grad():
        _, state = model(torch.zeros(1, 1, input_size))
    if isinstance(model, MANN) and not model.cell.controller.recurrent:
        return size_in_bytes((state.memory, state.writing))
    return size_in_bytes(state)


def cache_bytes(config: ModelConfig, steps: int) -> int:
    """The keys and the values of a Transformer's every layer, of every step."""
    return 4 * 2 * (config.layers or 1) * config.heads * config.word * steps


def jobs() -> list[Job]:
    """Every model, each run read at five numbers of pairs."""
    entry = TASKS["multi-query-recall"]
    return [
        Job(
            setting="recall",
            model=name,
            task=entry.train,
            tests=entry.tests,
            test=entry.thesis_test,
            config=config,
            training=training_of(config, TRAINING),
            readings=[Reading(setting=test, test=test) for test in entry.tests],
        )
        for name, config in models().items()
    ]


ASSOCIATIVE_RECALL_MQAR = Experiment(
    name="associative-recall-mqar",
    title="Multi-query associative recall at equal state",
    thesis="beyond",
    file="mnemon/experiments/multi_query_recall.py",
    jobs=jobs,
    aggregate="which has no such table",
)
