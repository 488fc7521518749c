"""Synthetic memorisation (thesis §6.5.2, Table 6.1): copy and reverse with 4 slots.

The thesis's parameter counts are of copy; they include embeddings and memory weights that nothing uses.
"""

from mnemon.experiments.optimal_writing import CUW, DNC, LSTM, NTM, RW, UW, Model, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.tokens import Reverse, TokenCopy, TokenTask

SLOTS = 4
MODELS: tuple[Model, ...] = (LSTM, NTM, DNC, RW, UW, CUW)

SETTINGS: dict[str, TokenTask] = {
    "copy L=50": TokenCopy(length=50),
    "copy L=100": TokenCopy(length=100),
    "reverse L=50": Reverse(length=50),
    "reverse L=100": Reverse(length=100),
}

THESIS: dict[str, dict[str, float]] = {
    "copy L=50": {"LSTM": 15.6, "NTM": 40.1, "DNC": 68.0, "DNC+RW": 47.6, "DNC+UW": 97.7, "DNC+CUW": 83.8},
    "copy L=100": {"LSTM": 12.7, "NTM": 11.8, "DNC": 44.2, "DNC+RW": 37.0, "DNC+UW": 69.3, "DNC+CUW": 55.7},
    "reverse L=50": {"LSTM": 49.6, "NTM": 61.1, "DNC": 65.0, "DNC+RW": 70.8, "DNC+UW": 100.0, "DNC+CUW": 93.3},
    "reverse L=100": {"LSTM": 26.1, "NTM": 20.3, "DNC": 54.1, "DNC+RW": 50.1, "DNC+UW": 79.5, "DNC+CUW": 55.4},
}


def jobs() -> list[Job]:
    """Each length is trained and tested by itself."""
    return [
        job
        for setting, task in SETTINGS.items()
        for job in jobs_of_setting(
            setting, task, MODELS, slots=SLOTS, length=task.length + 1, thesis=THESIS[setting], trace=True
        )
    ]


MEMORISATION = Experiment(
    name="memorisation",
    title="Synthetic memorisation: copy and reverse",
    thesis="§6.5.2, Table 6.1",
    file="mnemon/experiments/memorisation.py",
    jobs=jobs,
    aggregate="mean of 5 runs, of 3 random policies for DNC+RW",
)
