"""What memories of encoder-decoders do (thesis, Figures 4.5, 4.8 and 4.9): read modes, and write gates over events.

Read modes: the runs of the odd-even table that have a memory, with the share of each mode while they encode and decode;
the thesis draws bars without numbers. Write gates: the dual memories of the drug table; the thesis shows one patient.
Runs are taken over from those tables where they are finished.
"""

import dataclasses

from mnemon.experiments.health_records import drug_jobs
from mnemon.experiments.odd_even import jobs as odd_even_jobs
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.runner.view_tracing import MODES

FILE = "mnemon/experiments/inside_memories.py"


def read_mode_jobs() -> list[Job]:
    """A row for each mode while encoding and while decoding."""
    readings = [
        Reading(setting=f"{phase}, {mode}", metric=f"{phase.removesuffix('ing')}e_{mode}", traced=True)
        for phase in ("encoding", "decoding")
        for mode in MODES
    ]
    return [dataclasses.replace(job, readings=readings) for job in odd_even_jobs() if job.trace]


def write_gate_jobs() -> list[Job]:
    """Late and early fusion, from both views."""
    reading = Reading(setting="drugs-set, mean write gate", metric="write_gate", percent=False, traced=True)
    return [dataclasses.replace(job, readings=[reading]) for job in drug_jobs() if job.trace]


READ_MODES = Experiment(
    name="read-modes",
    title="Read modes on odd-even",
    thesis="§4.5.1, Figure 4.5",
    file=FILE,
    jobs=read_mode_jobs,
    metric="encode_content",
    aggregate="bars without numbers",
)

WRITE_GATES = Experiment(
    name="write-gates",
    title="Write gates over the events of a visit",
    thesis="§4.5.4, Figures 4.8 and 4.9",
    file=FILE,
    jobs=write_gate_jobs,
    metric="write_gate",
    percent=False,
    aggregate="pictures of one patient",
)
