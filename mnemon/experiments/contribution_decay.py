"""Contributions of the inputs (thesis §6.3.1): what trained models keep of a sequence that they are to copy.

The thesis has the theory and no such table. λ is that of theorem 1 for the whole state after the last token, the memory
included, over 16 held-out sequences, estimated with 32 random directions for each; what is kept is the average
contribution of a token as a share of a fresh one's. The accuracy beside them shows whether they foretell which model
copies best. Runs are those of Table 6.1.
"""

import dataclasses

from mnemon.experiments import memorisation
from mnemon.experiments.optimal_writing import DNC, LSTM, NTM
from mnemon.runner.job import Experiment, Job, Reading

SETTINGS = ("copy L=50", "copy L=100")
MODELS = tuple(model.name for model in (LSTM, NTM, DNC))
STATES = {"whole state": "whole_state", "controller alone": "controller"}


def jobs() -> list[Job]:
    """Models whose memory is written at every step, or that have none."""
    return [
        dataclasses.replace(
            job,
            readings=[
                *(
                    Reading(setting=f"{job.setting}, {name}", metric=f"lambda_{state}", traced=True)
                    for name, state in STATES.items()
                ),
                Reading(setting=f"{job.setting}, kept (%)", metric="kept_whole_state", percent=True, traced=True),
                Reading(setting=f"{job.setting}, accuracy (%)", metric="accuracy", percent=True, chosen_by="test"),
            ],
        )
        for job in memorisation.jobs()
        if job.setting in SETTINGS and job.model in MODELS
    ]


CONTRIBUTION_DECAY = Experiment(
    name="contribution-decay",
    title="What trained models keep of a sequence to copy",
    thesis="§6.3.1",
    file="mnemon/experiments/contribution_decay.py",
    jobs=jobs,
    metric="lambda_whole_state",
    percent=False,
    aggregate="none: the thesis measures no λ of these models",
    shows="nothing",
)
