"""Priors of one mode and of several (chapter 5; not in the thesis): which of the right answers a model gives.

Twenty-four contexts have four right answers each, none likelier than another, drawn from a common pool of eight.
Decoders are told nothing but their latent variables, two numbers at a time, so that an answer has one place for all
contexts, and what is right in a context must lie where its prior does. A mixture can lie in any four of eight places; a
Gaussian that covers four also covers what is between them, and an arrangement of the places that suits some contexts
does not suit others. Models say the likeliest word at each step, so that what varies is the latent variable alone. All
have about as many parameters (:data:`HIDDEN`) and the same training.

With ``maps``, beyond the thesis, each mode of VMED is made of what its head reads by a learned map of its own; without,
it is as printed.

``multi-modal`` counts the right answers that come in SAMPLES trials for each context, and has the bounds of right
answers; ``modes`` shows the same runs' mode weights over time, and how many modes are in use.
"""

from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.guided import Guided
from mnemon.tasks.multi_modal import ModeCoverage, MultiModal
from mnemon.training.config import TrainConfig

FILE = "mnemon/experiments/multi_modal.py"
SETTING = "multi-modal"
MODES = 4
SAMPLES = 256
TASK = MultiModal(contexts=24, spelling=8, modes=MODES, length=2, tokens=8, pool=8)
TESTS = {"coverage": ModeCoverage(task=TASK, samples=SAMPLES), "bounds": Guided(task=TASK)}

TRAINING = TrainConfig(
    steps=8_000,
    batch_size=64,
    optimiser="adam",
    learning_rate=1e-2,
    anneal=0.5,
    clip_value=10.0,
    log_every=200,
    eval_every=4_000,
    eval_sequences=256,
    checkpoint_every=4_000,
    keep=1,
    teacher=1.0,
    auxiliary=1.0,
)

# By model, heads and word: the size of each controller with which it has about 80,000 parameters.
HIDDEN: dict[tuple[str, int, int], int] = {
    ("cvae", 1, 4): 72,
    ("vlstm", 1, 4): 72,
    ("vmed", 1, 4): 70,
    ("vmed", 4, 4): 66,
    ("vmed", 16, 4): 54,
    ("vmed", 16, 16): 32,
}


def sizes(name: str, heads: int = 1, *, maps: bool = False) -> ModelConfig:
    """A model of the table, with latent variables of two numbers."""
    word = 16 if maps else 4
    return ModelConfig(
        name=name,
        hidden=HIDDEN[name, heads, word],
        heads=heads,
        slots=8,
        word=word,
        embedding=16,
        latent_size=2 if maps else None,
        latents_alone=True,
    )


MODELS: dict[str, ModelConfig] = {
    "CVAE": sizes("cvae"),
    "VLSTM": sizes("vlstm"),
    **{f"VMED (K={modes})": sizes("vmed", modes) for modes in (1, MODES, 4 * MODES)},
    f"VMED (K={4 * MODES}), maps": sizes("vmed", 4 * MODES, maps=True),
}

READINGS = [
    Reading(setting="modes covered", metric="modes_covered"),
    Reading(setting="evenness of the modes", metric="evenness"),
    Reading(setting="right answers", metric="valid"),
    Reading(setting="ELBO, nats of an answer", test="bounds", metric="elbo", percent=False),
    Reading(setting="KL, nats of a step", test="bounds", metric="kl", percent=False),
]
IN_USE = [
    Reading(setting="modes in use", metric="modes_in_use", percent=False, traced=True),
    Reading(setting="modes in use, by entropy", metric="modes_effective", percent=False, traced=True),
    Reading(setting="KL of the first step", metric="kl_first", percent=False, traced=True),
    Reading(setting="KL of a later step", metric="kl_later", percent=False, traced=True),
]


def jobs(readings: list[Reading] = READINGS) -> list[Job]:
    """Every model, in the same training."""
    return [
        Job(
            setting=SETTING,
            model=name,
            task=TASK,
            tests=TESTS,
            test="coverage",
            config=config,
            training=TRAINING,
            trace=True,
            readings=readings,
        )
        for name, config in MODELS.items()
    ]


MULTI_MODAL = Experiment(
    name="multi-modal",
    title="Several right answers: priors of one mode and of several",
    thesis="chapter 5, not in it",
    file=FILE,
    jobs=jobs,
    metric="modes_covered",
    aggregate="not in the thesis",
    shows="latents",
)

MODE_USAGE = Experiment(
    name="modes",
    title="Mode weights over time",
    thesis="chapter 5, not in it",
    file=FILE,
    jobs=lambda: jobs(IN_USE),
    metric="modes_in_use",
    percent=False,
    aggregate="not in the thesis",
)
