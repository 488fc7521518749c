"""Sinusoidal regression (thesis §6.5.4, Figure 6.3): continue a sinusoid, clean or noisy.

The thesis tunes learning rate and clipping for each model and prints no settings; here they are those of the other
synthetic tasks. While it continues the sinusoid, every model writes at every step, as the appendix says.
"""

import dataclasses

from mnemon.experiments.optimal_writing import CUW, DNC, LSTM, UW, Model, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.sinusoid import Sinusoid

SLOTS = 4
MODELS: tuple[Model, ...] = (LSTM, DNC, UW, CUW)
MORE_SLOTS = 50
BIG_DNC = dataclasses.replace(DNC, name=f"DNC, {MORE_SLOTS} slots")

SETTINGS: dict[str, Sinusoid] = {"clean": Sinusoid(length=100), "noisy": Sinusoid(length=100, noise=2.0)}

# DNC "approaches the performance of LSTM", with 50 slots as well
THESIS: dict[str, dict[str, float]] = {
    "clean": {"LSTM": 1.05, "DNC+UW": 0.44, "DNC+CUW": 0.61},
    "noisy": {"LSTM": 1.39, "DNC+UW": 0.98, "DNC+CUW": 0.55},
}


def jobs() -> list[Job]:
    """Each condition by itself, and the DNC with more slots too."""
    return [
        job
        for setting, task in SETTINGS.items()
        for models, slots in ((MODELS, SLOTS), ((BIG_DNC,), MORE_SLOTS))
        for job in jobs_of_setting(
            setting,
            task,
            models,
            slots=slots,
            length=task.length,
            encoded=task.length,
            thesis=THESIS[setting],
            counts=False,
        )
    ]


SINUSOID = Experiment(
    name="sinusoid",
    title="Sinusoidal regression, clean and noisy",
    thesis="§6.5.4, Figure 6.3",
    file="mnemon/experiments/sinusoid.py",
    jobs=jobs,
    metric="mse",
    percent=False,
    better="lower",
    aggregate="mean of 5 runs",
)
