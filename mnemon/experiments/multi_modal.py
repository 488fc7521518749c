"""Priors of one mode and of several (chapter 5; not in the thesis): which of the right answers a model gives.

Every context has MODES right answers, none likelier than another. Models say the likeliest word at each step, so that
what varies is the latent variable alone. All have the same training, and a latent variable of two numbers. Parameters
grow with K; the hidden units of those without a memory are chosen to match VMED of MODES modes.

``multi-modal`` counts the right answers that come in SAMPLES trials for each context, and has the bounds of right
answers; ``modes`` shows the same runs' mode weights over time, and how many modes are in use.
"""

import dataclasses

from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.guided import Guided
from mnemon.tasks.multi_modal import ModeCoverage, MultiModal
from mnemon.training.config import TrainConfig

FILE = "mnemon/experiments/multi_modal.py"
SETTING = "multi-modal"
MODES = 8
SAMPLES = 64
TASK = MultiModal(contexts=4, modes=MODES, length=1)
TESTS = {"coverage": ModeCoverage(task=TASK, samples=SAMPLES), "bounds": Guided(task=TASK)}

TRAINING = TrainConfig(
    steps=1_500,
    batch_size=64,
    optimiser="adam",
    learning_rate=1e-2,
    clip_value=10.0,
    log_every=100,
    eval_every=500,
    eval_sequences=256,
    checkpoint_every=1_500,
    keep=1,
    teacher=1.0,
    auxiliary=1.0,
    auxiliary_warmup=1_200,
)
SIZES = ModelConfig(name="vmed", hidden=24, slots=8, word=4, embedding=16)
WITHOUT_MEMORY = 32  # hidden units, for as many parameters

MODELS: dict[str, ModelConfig] = {
    "CVAE": dataclasses.replace(SIZES, name="cvae", hidden=WITHOUT_MEMORY),
    "VLSTM": dataclasses.replace(SIZES, name="vlstm", hidden=WITHOUT_MEMORY),
    **{f"VMED (K={modes})": dataclasses.replace(SIZES, heads=modes) for modes in (1, 2, 4, MODES, MODES + 1)},
    **{
        f"VMED (K={modes}), even, offsets": dataclasses.replace(
            SIZES, heads=modes, mode_weighting="even", mode_offsets=True
        )
        for modes in (MODES, 2 * MODES)
    },
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
