"""Memory operating behaviours (thesis, appendix to chapter 6): where trained memories write and read, as heat maps.

The runs are those of Tables 6.1 and 6.2; shown is what their memories did.
"""

from mnemon.experiments import memorisation, reasoning
from mnemon.experiments.optimal_writing import CUW, DNC, UW
from mnemon.runner.job import Experiment, Job

SETTINGS = ("copy L=50", "max L=50")
MODELS = tuple(model.name for model in (DNC, UW, CUW))


def jobs() -> list[Job]:
    """Copy and max, with regular, uniform and cached writing."""
    return [job for job in (*memorisation.jobs(), *reasoning.jobs()) if job.setting in SETTINGS and job.model in MODELS]


WRITING_BEHAVIOUR = Experiment(
    name="writing-behaviour",
    title="Memory operating behaviours on copy and max",
    thesis="chapter 6, appendix, “Memory Operating Behaviors on Synthetic Tasks”",
    file="mnemon/experiments/writing_behaviour.py",
    jobs=jobs,
    aggregate="pictures; accuracies from Tables 6.1 and 6.2",
)
