"""Few-shot learning on Omniglot (thesis §7.4.4, Table 7.2, and its longer form in the appendix).

Sizes, RMSProp and its rate are the appendix's. Training is 100,000 episodes, each a sequence, as the thesis says; how
many make a batch it does not. Here it is one, as in the author's code for the tasks of Graves et al., so that there are
as many steps as there can be. In single runs a MANN on 5 classes had 58% at the 2nd presentation with batches of 16, as
in Santoro et al. (2016), and 81% with batches of 4; a NUTM on 10 classes had 29% with batches of 4, and 40% with one.

Where the memory persists, a sequence is several episodes, and there are as many fewer steps.
"""

import dataclasses

from mnemon.experiments.ntm_tasks import training_of
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Literature, Reading
from mnemon.runner.sources import DataTask
from mnemon.tasks.catalogue import PERSISTENT_EPISODES
from mnemon.training.config import TrainConfig

TRAINING = TrainConfig(
    steps=100_000,
    batch_size=1,
    optimiser="rmsprop",
    learning_rate=1e-4,
    clip_value=10.0,
    log_every=500,
    eval_every=5_000,
    eval_sequences=500,
    checkpoint_every=1_000,
)
PERSISTENT = dataclasses.replace(
    TRAINING,
    steps=TRAINING.steps // PERSISTENT_EPISODES,
    eval_every=TRAINING.eval_every // PERSISTENT_EPISODES,
)
PRESENTATIONS = ("2nd", "3rd", "5th")


def lrua(hidden: int, programs: int | None = None) -> ModelConfig:
    """The sizes of the appendix's table; a key has as many numbers as there are programs."""
    name = "lrua" if programs is None else "nutm-lrua"
    return ModelConfig(name=name, hidden=hidden, slots=128, word=40, heads=4, programs=programs, program_key=programs)


SETTINGS: dict[str, str] = {  # the catalogue's name of the task
    "5 classes": "omniglot-5",
    "10 classes": "omniglot-10",
    "5 classes, persistent": "omniglot-5-persistent",
    "10 classes, persistent": "omniglot-10-persistent",
}
MANN, NUTM = "MANN (LRUA)", "NUTM (LRUA)"
MODELS: dict[str, dict[str, ModelConfig]] = {
    setting: {MANN: lrua(200), NUTM: lrua(150, 3) if setting.startswith("10") else lrua(180, 2)} for setting in SETTINGS
}

Values = tuple[float | None, float | None, float | None]  # at the 2nd, 3rd and 5th presentation

THESIS: dict[str, dict[str, Values]] = {
    "5 classes": {MANN: (82.3, 88.7, 92.3), NUTM: (85.7, 91.3, 95.5)},
    "10 classes": {MANN: (52.7, 60.6, 64.7), NUTM: (68.0, 78.1, 82.8)},
    "5 classes, persistent": {MANN: (66.2, 73.4, 81.0), NUTM: (77.8, 85.8, 89.8)},
    "10 classes, persistent": {MANN: (51.3, 59.2, 63.3), NUTM: (69.0, 77.9, 82.7)},
}
# Of Santoro et al. (2016); those of the persistent memory are read off their figures, says the appendix.
LITERATURE: dict[str, dict[str, Values]] = {
    "5 classes": {"MANN (LRUA)*": (82.8, 91.0, 94.9)},
    "5 classes, persistent": {"Human*": (57.3, 70.1, 81.4), "MANN (LRUA)*": (58.0, None, 75.0)},
    "10 classes, persistent": {"MANN (LRUA)*": (60.0, None, 80.0)},
}


def jobs() -> list[Job]:
    """Each model in each setting; a row for each presentation."""
    return [
        Job(
            setting=setting,
            model=name,
            task=DataTask(name=task),
            tests={},
            test="test",
            config=config,
            training=training_of(config, PERSISTENT if setting.endswith("persistent") else TRAINING),
            readings=[
                Reading(setting=f"{setting}, {number}", metric=f"accuracy_{number}", thesis=thesis)
                for number, thesis in zip(PRESENTATIONS, THESIS[setting][name], strict=True)
            ],
        )
        for setting, task in SETTINGS.items()
        for name, config in MODELS[setting].items()
    ]


OMNIGLOT = Experiment(
    name="omniglot",
    title="Few-shot learning on Omniglot",
    thesis="§7.4.4, Table 7.2, and appendix",
    file="mnemon/experiments/omniglot.py",
    jobs=jobs,
    literature=[
        Literature(setting=f"{setting}, {number}", model=model, thesis=value)
        for setting, models in LITERATURE.items()
        for model, values in models.items()
        for number, value in zip(PRESENTATIONS, values, strict=True)
        if value is not None
    ],
)
