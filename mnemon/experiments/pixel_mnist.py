"""Flattened images (thesis §6.5.5, Table 6.3): MNIST pixel by pixel, in order and permuted.

The thesis gives the controller, the slots, the cache, RMSProp and its rate; batch, length of training, word and
clipping are ours.
"""

import dataclasses

from mnemon.experiments.optimal_writing import CUW, DNC, UW, jobs_of_setting
from mnemon.runner.job import Experiment, Job, Literature
from mnemon.runner.sources import DataTask
from mnemon.training.config import TrainConfig

PIXELS = 784
SLOTS = 15
DNC_SLOTS = (15, 30, 60)  # the thesis reports the best of these
BATCH = 64
EPOCH = 50_000 // BATCH

TRAINING = TrainConfig(
    steps=100 * EPOCH,
    batch_size=BATCH,
    optimiser="rmsprop",
    learning_rate=1e-4,
    rmsprop_alpha=0.9,
    rmsprop_momentum=0.0,
    clip_value=None,
    clip_each=10.0,
    log_every=EPOCH,
    eval_every=5 * EPOCH,
    checkpoint_every=200,
)

SETTINGS: dict[str, DataTask] = {"MNIST": DataTask(name="mnist"), "pMNIST": DataTask(name="permuted-mnist")}

THESIS: dict[str, dict[str, float]] = {
    "MNIST": {"DNC": 98.1, "DNC+UW": 98.6, "DNC+CUW": 99.1},
    "pMNIST": {"DNC": 94.0, "DNC+UW": 95.6, "DNC+CUW": 96.3},
}

LITERATURE: dict[str, dict[str, float]] = {
    "MNIST": {
        "iRNN": 97.0,
        "uRNN": 95.1,
        "r-LSTM Full BP": 98.4,
        "Dilated-RNN": 95.5,
        "Dilated-GRU": 99.2,
        "Transformer": 98.9,
        "Dilated CNN": 98.3,
    },
    "pMNIST": {
        "iRNN": 82.0,
        "uRNN": 91.4,
        "r-LSTM Full BP": 95.2,
        "Dilated-RNN": 96.1,
        "Dilated-GRU": 94.6,
        "Transformer": 97.9,
        "Dilated CNN": 96.7,
    },
}


def jobs() -> list[Job]:
    """The DNC with each number of slots, each beside the one value that the thesis prints of it."""
    found = []
    for setting, task in SETTINGS.items():
        thesis = THESIS[setting]
        for slots in DNC_SLOTS:
            model = dataclasses.replace(DNC, name=f"DNC, {slots} slots", controller="gru", parameters=None)
            named = {model.name: thesis["DNC"]}
            found += jobs_of_setting(
                setting, task, [model], slots=slots, length=PIXELS, thesis=named, training=TRAINING
            )
        ours = [
            dataclasses.replace(model, controller="gru", hidden=100, cache=10, parameters=None) for model in (UW, CUW)
        ]
        found += jobs_of_setting(setting, task, ours, slots=SLOTS, length=PIXELS, thesis=thesis, training=TRAINING)
    return found


PIXEL_MNIST = Experiment(
    name="pixel-mnist",
    title="Flattened images: MNIST pixel by pixel",
    thesis="§6.5.5, Table 6.3, and appendix",
    file="mnemon/experiments/pixel_mnist.py",
    jobs=jobs,
    aggregate="for DNC the best of 15, 30 and 60 slots",
    literature=[
        Literature(setting=setting, model=model, thesis=value)
        for setting, values in LITERATURE.items()
        for model, value in values.items()
    ],
)
