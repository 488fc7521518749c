"""Contributions of the inputs (thesis §6.3.1): what trained models keep of a sequence that they are to copy.

The thesis has the theory and no such table. λ is that of theorem 1, of the 50 or 100 tokens and the end that are shown,
over 16 held-out sequences, estimated with 32 random directions for each: for the whole state after them, the memory
included, for the controller alone, and for the answer, all that the model puts out from then on. The average
contribution to the answer is that theorem's I. The accuracy beside them shows which of them foretell how well a model
copies. Runs are those of Table 6.1.
"""

import dataclasses

from mnemon.experiments import memorisation
from mnemon.experiments.optimal_writing import DNC, LSTM, NTM
from mnemon.runner.job import Experiment, Job, Reading

SETTINGS = ("copy L=50", "copy L=100")
MODELS = tuple(model.name for model in (LSTM, NTM, DNC))
STATES = {"answer": "answer", "whole state": "whole_state", "controller alone": "controller"}


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
                Reading(setting=f"{job.setting}, average to the answer", metric="average_answer", traced=True),
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
    metric="lambda_answer",
    percent=False,
    aggregate="none: the thesis measures no λ of these models",
    shows="nothing",
)
