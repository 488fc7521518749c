"""A process for one job after the other: ``python -m mnemon.runner.worker``, started by the campaign.

Starting takes some seconds of importing, so a process that has finished a job takes another; each job seeds all that is
random, and leaves the same as in a process of its own. One that fails ends its process. A worker saves and ends when it
is told to stop, and also when the campaign that started it is gone.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from io import FileIO
from pathlib import Path
from queue import SimpleQueue

import torch
from torch import nn

from mnemon.errors import UserError
from mnemon.models.catalogue import MODELS, build_model
from mnemon.runner.classical import fit_classical
from mnemon.runner.job import Job
from mnemon.runner.latent_tracing import write_latent_traces
from mnemon.runner.measurement import Measurement, work_from_json
from mnemon.runner.measuring import measure_law
from mnemon.runner.messages import GRACE_SECONDS, Assignment, Standing, parse_assignment
from mnemon.runner.parameters import count_parameters
from mnemon.runner.samples import write_samples
from mnemon.runner.tracing import write_traces
from mnemon.runner.view_tracing import write_view_traces
from mnemon.tasks.base import Task, known_vectors
from mnemon.tasks.spoken import Spoken
from mnemon.training.allocation import keep_freed_memory
from mnemon.training.directory import RunDirectory
from mnemon.training.interrupt import Interrupted
from mnemon.training.loop import train
from mnemon.training.progress import Progress
from mnemon.training.record import Record
from mnemon.training.seeding import seed_everything
from mnemon.views import ViewSizes

TELL_SECONDS = 0.25  # between two words to the campaign
PATIENCE = 15.0  # seconds that a worker before this one, whose campaign is gone, may need to see it and save


def main() -> None:
    """Take assignments from standard input and carry them out, until there are no more."""
    keep_freed_memory()
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))  # which not every build of torch heeds by itself
    requests, reports = FileIO(0, "r", closefd=False), FileIO(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is no progress
    waiting: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    try:
        while True:
            assignment = parse_assignment(waiting.get())
            work(assignment, PipeProgress(reports, assignment.metric))
            with contextlib.suppress(BrokenPipeError):
                reports.write(Standing(finished=True).to_line())
    except UserError as error:
        sys.exit(str(error))
    except Interrupted:
        sys.exit(130)


def work(assignment: Assignment, progress: Progress) -> None:
    """Train, go on training, or measure, and leave what is to stay."""
    given = work_from_json(assignment.job)
    if isinstance(given, Measurement):
        measure_law(given, assignment, progress)
    else:
        _train(given, assignment, progress)


def _train(job: Job, assignment: Assignment, progress: Progress) -> None:
    folder = Path(assignment.folder)
    task, tests = job.open(None if assignment.data is None else Path(assignment.data))
    if job.classical is not None:
        fit_classical(job.classical, task, tests, assignment, job.training, progress)
        return
    model, training = _untrained(job, task), job.training
    views = isinstance(task.input_size, ViewSizes)
    taught = views and training.auxiliary is not None
    described = {
        "experiment": assignment.experiment,
        "scale": assignment.scale,
        "job": assignment.job,
        "parameters": count_parameters(model, task, training.batch_size, training.seed, taught=taught)._asdict(),
    }
    train(
        model,
        task,
        tests,
        training,
        folder,
        resume=RunDirectory(folder).run.exists(),
        run=described,
        command=assignment.command,
        progress=progress,
        patience=PATIENCE,
    )
    if not job.trace:
        return
    traces, test = RunDirectory(folder).traces, tests[job.test]
    if isinstance(test, Spoken):
        write_samples(traces, model, test.task, training.seed)
    elif MODELS[job.config.name].is_variational:
        write_latent_traces(traces, model, test, training.seed)
    elif views:
        write_view_traces(traces, model, test, training.seed)
    else:
        write_traces(traces, model, test, training.seed, untrained=_untrained(job, task))


def _untrained(job: Job, task: Task) -> nn.Module:
    """The model as it begins, the same at every call."""
    seed_everything(job.training.seed)
    return build_model(job.config, task.input_size, task.output_size, vectors=known_vectors(task))


class PipeProgress:
    """Tells the campaign a few times a second where the run is."""

    def __init__(self, reports: FileIO, metric: str) -> None:
        self._reports = reports
        self._name = metric
        self._metric: float | None = None
        self._first = self._total = 0
        self._began = self._next = 0.0

    def start(self, done: int, total: int) -> None:
        """Begin to tell."""
        self._first, self._total, self._began = done, total, time.monotonic()
        self._tell(Standing(done=done, total=total))

    def step(self, step: int, loss: float) -> None:
        """Tell when it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + TELL_SECONDS
            left = (now - self._began) / (step - self._first) * (self._total - step)
            standing = Standing(done=step, total=self._total, loss=loss, metric=self._metric, seconds_left=left)
            self._tell(standing)

    def show(self, record: Record) -> None:
        """Keep the metric for the next word."""
        self._metric = record.metrics.get(self._name, self._metric)

    def stop(self) -> None:
        """The campaign sees the end of the process."""

    def _tell(self, standing: Standing) -> None:
        with contextlib.suppress(BrokenPipeError):  # the campaign is gone; _listen sees it too
            self._reports.write(standing.to_line())


def _listen(requests: FileIO, waiting: "SimpleQueue[bytes]") -> None:
    """Pass on assignments. Their end means that the campaign is gone: stop as if it had asked, soon or at once."""
    for line in requests:
        waiting.put(line)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
