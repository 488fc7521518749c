"""Question answering on bAbI (thesis §7.4.5, Table 7.3, and the appendix's full results).

Sizes, RMSProp with its rate and momentum, the batch, layer normalisation and the lack of temporal links are the
appendix's. What is normalised is told by its counts of parameters, which are met exactly: the LSTM's gates, which also
have biases before, its cell, and the interface vector. With two programs the count is that of 240 hidden units, where
the table prints 200. An epoch is counted in the stories that are left for training, about 56,000.
"""

from mnemon.experiments.ntm_tasks import training_of
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Literature, Reading
from mnemon.runner.sources import DataTask
from mnemon.tasks.babi import TASKS
from mnemon.training.config import TrainConfig

BATCH = 32
EPOCH = 56_000 // BATCH

TRAINING = TrainConfig(
    steps=50 * EPOCH,
    batch_size=BATCH,
    optimiser="rmsprop",
    learning_rate=1e-4,
    rmsprop_momentum=0.9,
    clip_value=10.0,
    log_every=250,
    eval_every=5 * EPOCH,
    checkpoint_every=250,
)


def nutm(hidden: int, programs: int) -> ModelConfig:
    """A NUTM with a DNC's memory."""
    return ModelConfig(
        name="nutm-dnc-no-links",
        controller="layer-norm-lstm",
        hidden=hidden,
        slots=196,
        word=64,
        heads=4,
        normalised=True,
        programs=programs,
        program_key=programs,
    )


P2, P4 = "NUTM (DNC core) p=2", "NUTM (DNC core) p=4"
MODELS: dict[str, ModelConfig] = {P2: nutm(240, 2), P4: nutm(172, 4)}
PARAMETERS: dict[str, int] = {P2: 934_787, P4: 794_773}

# Means and standard deviations of 10 runs, in percent.
THESIS: dict[str, tuple[float, float]] = {P2: (7.5, 1.6), P4: (5.6, 1.9)}
LITERATURE: dict[str, tuple[float, float]] = {
    "DNC": (16.7, 7.6),
    "SDNC": (6.4, 2.5),
    "ADNC": (6.3, 2.7),
    "DNC-MD": (9.5, 1.6),
}

# With four programs: the best run, then mean and standard deviation, by task.
THESIS_BY_TASK: dict[int, tuple[float, float, float]] = {
    1: (0.0, 0.0, 0.0),
    2: (0.2, 0.6, 0.3),
    3: (4.0, 7.6, 3.9),
    4: (0.0, 0.0, 0.0),
    5: (0.4, 1.0, 0.4),
    6: (0.0, 0.0, 0.0),
    7: (1.9, 1.5, 0.8),
    8: (0.6, 0.3, 0.2),
    9: (0.0, 0.0, 0.0),
    10: (0.1, 0.1, 0.0),
    11: (0.0, 0.0, 0.0),
    12: (0.0, 0.0, 0.0),
    13: (0.1, 0.0, 0.0),
    14: (0.3, 1.6, 2.2),
    15: (0.0, 2.6, 8.3),
    16: (49.3, 52.0, 1.7),
    17: (4.7, 18.4, 12.7),
    18: (0.4, 1.6, 1.1),
    19: (4.3, 23.7, 32.2),
    20: (0.0, 0.0, 0.0),
}
THESIS_MEAN_ERROR = (3.3, 5.6, 1.9)
THESIS_FAILED = (1.0, 3.0, 1.2)


def readings(model: str) -> list[Reading]:
    """The mean error, the tasks failed, and the error of each task."""
    full = model == P4  # the only one of which the thesis tells all
    return [
        Reading(setting="mean", thesis=THESIS[model][0]),
        Reading(setting="tasks failed", metric="failed", percent=False, thesis=THESIS_FAILED[1] if full else None),
        *(
            Reading(
                setting=f"{number}: {title}",
                metric=f"error_{number}",
                thesis=THESIS_BY_TASK[number][1] if full else None,
            )
            for number, title in TASKS.items()
        ),
    ]


def jobs() -> list[Job]:
    """Both numbers of programs, each on all tasks together."""
    return [
        Job(
            setting="20 tasks together",
            model=name,
            task=DataTask(name="babi"),
            tests={},
            test="test",
            config=config,
            training=training_of(config, TRAINING),
            thesis_parameters=PARAMETERS[name],
            readings=readings(name),
        )
        for name, config in MODELS.items()
    ]


BABI = Experiment(
    name="babi",
    title="Question answering on bAbI",
    thesis="§7.4.5, Table 7.3, and appendix",
    file="mnemon/experiments/babi.py",
    jobs=jobs,
    metric="mean_error",
    better="lower",
    aggregate="mean of 10 runs",
    literature=[Literature(setting="mean", model=model, thesis=mean) for model, (mean, _) in LITERATURE.items()],
)
