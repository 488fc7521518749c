"""Clusters of states (thesis, appendix “Clustering on The Latent Space”): do the controller's states part by phase?

The thesis shows copy and repeat copy; the two in sequence are ours. It finds by eye that NUTM has the clearer clusters.
The table has the mean silhouette of the phases, that of the same model before training, as phases part by themselves
while nothing is shown, and the accuracy, as clusters of a model that has not learnt its task say little. Runs are taken
over from the tables of these tasks where they are finished.
"""

import dataclasses

from mnemon.experiments.ntm_tasks import sequencing_jobs, single_jobs
from mnemon.runner.job import Experiment, Job, Reading

SETTINGS = ("Copy", "Repeat Copy", "C+RC")


def jobs() -> list[Job]:
    """NTM and NUTM in each setting."""
    return [
        dataclasses.replace(
            job,
            readings=[
                Reading(setting=job.setting, traced=True),
                Reading(setting=f"{job.setting}, untrained", metric="silhouette_untrained", traced=True),
                Reading(setting=f"{job.setting}, bit accuracy", metric="bit_accuracy", percent=True),
            ],
        )
        for job in (*single_jobs(), *sequencing_jobs())
        if job.setting in SETTINGS
    ]


STATE_CLUSTERS = Experiment(
    name="state-clusters",
    title="Clusters of the controller's states",
    thesis="chapter 7, appendix, “Clustering on The Latent Space”",
    file="mnemon/experiments/state_clusters.py",
    jobs=jobs,
    metric="silhouette",
    percent=False,
    aggregate="pictures without numbers",
    shows="states",
)
