"""Synthetic reasoning (thesis §6.5.3, Table 6.2): add and max with 4 slots."""

from mnemon.experiments.optimal_writing import CUW, DNC, RW, UW, Model, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.tokens import Add, Max, TokenTask

SLOTS = 4
MODELS: tuple[Model, ...] = (DNC, RW, UW, CUW)  # LSTM and NTM fail on these, says the thesis

SETTINGS: dict[str, TokenTask] = {
    "add L=50": Add(length=50),
    "add L=100": Add(length=100),
    "max L=50": Max(length=50),
    "max L=100": Max(length=100),
}

THESIS: dict[str, dict[str, float]] = {
    "add L=50": {"DNC": 83.8, "DNC+RW": 83.0, "DNC+UW": 84.8, "DNC+CUW": 94.4},
    "add L=100": {"DNC": 22.3, "DNC+RW": 22.7, "DNC+UW": 50.9, "DNC+CUW": 60.1},
    "max L=50": {"DNC": 59.5, "DNC+RW": 59.7, "DNC+UW": 71.7, "DNC+CUW": 82.3},
    "max L=100": {"DNC": 27.4, "DNC+RW": 36.5, "DNC+UW": 66.2, "DNC+CUW": 70.7},
}


def jobs() -> list[Job]:
    """Each length is trained and tested by itself; the thesis gives no parameter counts."""
    return [
        job
        for setting, task in SETTINGS.items()
        for job in jobs_of_setting(
            setting, task, MODELS, slots=SLOTS, length=task.length + 1, thesis=THESIS[setting], counts=False, trace=True
        )
    ]


REASONING = Experiment(
    name="reasoning",
    title="Synthetic reasoning: add and max",
    thesis="§6.5.3, Table 6.2",
    file="mnemon/experiments/reasoning.py",
    jobs=jobs,
    aggregate="mean of 5 runs, of 3 random policies for DNC+RW",
)
