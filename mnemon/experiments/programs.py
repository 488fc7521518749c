"""Program usage (thesis, appendix to chapter 7): which programs NUTM runs at each step, and perseveration in NTM.

The runs are those of Table 7.1 and of the sequencing tasks, and are taken over where these are finished; what is new is
their pictures. Perseveration, which the thesis shows in chosen failures, is also counted
(:mod:`mnemon.tasks.perseveration`), for NUTM too.
"""

import dataclasses

from mnemon.experiments.ntm_tasks import sequencing_jobs, single_jobs
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.perseveration import metric_of
from mnemon.tasks.sequencing import Sequencing


def with_perseveration(job: Job) -> Job:
    """The same run, with a row for each sub-task that it might be stuck in."""
    assert isinstance(job.task, Sequencing)
    stuck = [
        Reading(setting=f"{job.setting}, answered as {name}", metric=metric_of(name), percent=True)
        for name in job.task.names
    ]
    return dataclasses.replace(job, readings=[Reading(setting=job.setting), *stuck])


def jobs() -> list[Job]:
    """NUTM on all tasks, NTM on sequences of them."""
    single = [job for job in single_jobs() if job.config.name == "nutm"]
    return single + [with_perseveration(job) for job in sequencing_jobs()]


PROGRAMS = Experiment(
    name="programs",
    title="Program usage, and perseveration in NTM",
    thesis="§7.4.1, §7.4.2, Figure 7.3, and appendix, “Program Usage Visualisations”",
    file="mnemon/experiments/programs.py",
    jobs=jobs,
    metric="bit_errors",
    percent=False,
    better="lower",
    aggregate="pictures; bit errors from Table 7.1, best of 5 runs",
)
