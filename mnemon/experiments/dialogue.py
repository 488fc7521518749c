"""Dialogue (thesis §5.4, Tables 5.1 and 5.2): nine models on two sets of conversations, at equal parameters.

The thesis's sets are other ones, two of them not public, so its values cannot stand beside these; docs/dialogue.md has
them. Its settings are kept as far as two cores allow: 16 slots of 64 numbers, latent variables of 32, Adam at 1e-3,
clipping at 10, the weight of the divergence rising from zero to 1. Smaller are the vocabulary (5,000 words for 20,000),
the embeddings (GloVe's 50 numbers for word2vec's 96), the controllers (one layer of about 128 for three of 768), the
batch (32 for 256) and the training. The thesis's models differ in size; here hidden sizes are such that all have 1.6
million parameters (:data:`HIDDEN`). ``DNC`` is an encoder-decoder over one memory, as VMED without latent variables.

A model's own answers are measured on 1,000 contexts of the test, ten samples each; ELBO and KL while it is guided
through the responses to them. A KL near zero says that the posterior has collapsed: the model ignores its latents.
"""

import dataclasses

from mnemon.models.catalogue import MODELS
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.runner.sources import DataTask
from mnemon.tasks.dialogue_sets import GUIDED
from mnemon.training.config import TrainConfig

FILE = "mnemon/experiments/dialogue.py"
TRAINING = TrainConfig(
    steps=3_000,
    batch_size=32,
    optimiser="adam",
    learning_rate=1e-3,
    clip_value=None,
    clip_norm=10.0,
    teacher=1.0,
    log_every=100,
    eval_every=1_500,
    checkpoint_every=500,
)
WARMUP = 1_500  # steps over which the divergence gains its full weight
SETS = {"Chit-Chat": "chit-chat", "Self-dialogue": "self-dialogue"}

# By model and heads: the size of each controller with which it has as many parameters as the others.
HIDDEN: dict[tuple[str, int], int] = {
    ("seq2seq", 1): 163,
    ("seq2seq-attention", 1): 94,
    ("dc-mann", 1): 106,
    ("cvae", 1): 143,
    ("vlstm", 1): 143,
    ("vmed", 1): 133,
    ("vmed", 2): 128,
    ("vmed", 3): 123,
    ("vmed", 4): 119,
}
COMPARED: dict[str, tuple[str, int]] = {
    "Seq2Seq": ("seq2seq", 1),
    "Seq2Seq-att": ("seq2seq-attention", 1),
    "DNC": ("dc-mann", 1),
    "CVAE": ("cvae", 1),
    "VLSTM": ("vlstm", 1),
    **{f"VMED (K={modes})": ("vmed", modes) for modes in (1, 2, 3, 4)},
}


def sizes(model: str, heads: int = 1) -> ModelConfig:
    """A model with the sizes of the table; one that is not in it has controllers of 128."""
    hidden = HIDDEN.get((model, heads), 128)
    return ModelConfig(name=model, hidden=hidden, heads=heads, slots=16, word=64, embedding=50)


def training_of(config: ModelConfig, training: TrainConfig) -> TrainConfig:
    """The same training, in which the divergence of a variational model gains its weight bit by bit."""
    if not MODELS[config.name].is_variational:
        return training
    return dataclasses.replace(training, auxiliary=1.0, auxiliary_warmup=WARMUP)


def readings(setting: str, *, variational: bool) -> list[Reading]:
    """What is read of each run: likeness, variety and bounds."""
    shares = {
        "BLEU-1 (method 7)": "bleu_1",
        "BLEU-4 (method 7)": "bleu_4",
        "corpus BLEU-1": "corpus_bleu_1",
        "corpus BLEU-4": "corpus_bleu_4",
    }
    numbers = {"A-GloVe": "a_glove", "distinct-1": "distinct_1", "distinct-2": "distinct_2", "variety": "variety"}
    bounds = {"ELBO": "elbo"} | ({"KL a step": "kl"} if variational else {})
    return [
        *(Reading(setting=f"{setting}, {name}", metric=metric) for name, metric in shares.items()),
        *(Reading(setting=f"{setting}, {name}", metric=metric, percent=False) for name, metric in numbers.items()),
        *(
            Reading(setting=f"{setting}, {name}", metric=metric, percent=False, test=GUIDED)
            for name, metric in bounds.items()
        ),
    ]


def jobs() -> list[Job]:
    """Every model on both sets."""
    return [
        Job(
            setting=setting,
            model=name,
            task=DataTask(name=task),
            tests={},
            test="test",
            config=(config := sizes(*model)),
            training=training_of(config, TRAINING),
            trace=True,
            readings=readings(setting, variational=MODELS[config.name].is_variational),
        )
        for setting, task in SETS.items()
        for name, model in COMPARED.items()
    ]


def sample_jobs() -> list[Job]:
    """The same runs, of which the answers are shown."""
    return [dataclasses.replace(job, readings=[Reading(setting=job.setting)]) for job in jobs()]


DIALOGUE = Experiment(
    name="dialogue",
    title="Responses in conversations",
    thesis="§5.4.1, Table 5.1",
    file=FILE,
    jobs=jobs,
    metric="bleu_1",
    aggregate="one value a row, on other sets of conversations: none is shown",
    shows="nothing",
)

DIALOGUE_SAMPLES = Experiment(
    name="dialogue-samples",
    title="What models say in conversations, and how much it varies",
    thesis="§5.4.2, Table 5.2",
    file=FILE,
    jobs=sample_jobs,
    metric="variety",
    aggregate="answers chosen among those with the best scores; ours are not chosen",
    shows="samples",
)
