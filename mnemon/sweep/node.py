"""What a machine of a cluster does with a job: it starts the worker that ``mnemon run`` starts, and waits for it.

The worker is a process of its own. Whatever ends this one, the worker sees it, saves a checkpoint and ends; the next
try goes on from there. Only text goes to the machine, and nothing comes back but that it is done: the results are in
the run's folder, which all machines share.
"""

import time

from mnemon.runner.messages import GRACE_SECONDS, parse_assignment
from mnemon.runner.process import WorkerProcess

POLL_SECONDS = 0.1


class JobFailed(Exception):
    """A worker ended without having finished; the message is its last words."""


def carry_out(line: str) -> None:
    """Work on an assignment, given as the line that a worker reads, to its end."""
    see_through(WorkerProcess(), line)


def see_through(worker: WorkerProcess, line: str) -> None:
    """Let a worker carry out an assignment, and end it then; interrupted, let it save first."""
    try:
        worker.give(parse_assignment(line.encode()))
        while not worker.finished:
            if worker.ended:
                raise JobFailed(worker.last_words())
            time.sleep(POLL_SECONDS)
    finally:
        worker.stop(GRACE_SECONDS)
