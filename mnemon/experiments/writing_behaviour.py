"""Memory operating behaviours (thesis, appendix to chapter 6): where trained memories write and read, as heat maps.

The same training as Tables 6.1 and 6.2; what is new is the trace that each run leaves.
"""

from mnemon.experiments.optimal_writing import CUW, DNC, UW, Model, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.tokens import Max, TokenCopy, TokenTask

SLOTS = 4
MODELS: tuple[Model, ...] = (DNC, UW, CUW)

SETTINGS: dict[str, TokenTask] = {"copy L=50": TokenCopy(length=50), "max L=50": Max(length=50)}

THESIS: dict[str, dict[str, float]] = {
    "copy L=50": {"DNC": 68.0, "DNC+UW": 97.7, "DNC+CUW": 83.8},
    "max L=50": {"DNC": 59.5, "DNC+UW": 71.7, "DNC+CUW": 82.3},
}


def jobs() -> list[Job]:
    """Copy and max, each leaving a trace."""
    return [
        job
        for setting, task in SETTINGS.items()
        for job in jobs_of_setting(
            setting,
            task,
            MODELS,
            slots=SLOTS,
            length=task.length + 1,
            thesis=THESIS[setting],
            counts=False,
            trace=True,
        )
    ]


WRITING_BEHAVIOUR = Experiment(
    name="writing-behaviour",
    title="Memory operating behaviours on copy and max",
    thesis="chapter 6, appendix, “Memory Operating Behaviors on Synthetic Tasks”",
    file="mnemon/experiments/writing_behaviour.py",
    jobs=jobs,
    aggregate="pictures; accuracies from Tables 6.1 and 6.2",
)
