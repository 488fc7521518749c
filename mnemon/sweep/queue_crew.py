"""The runs of a campaign as jobs of a queue: SLURM's, or submitit's own on this machine.

submitit hands a function and its arguments to a job as a pickle, which the job loads. Ours holds a class of this module
and a line of JSON, lies in a folder that only its owner may enter, and is deleted when the campaign ends. What a job
returns is a pickle too, and is never loaded: how a job ended is known from its run's folder and its log.
"""

import re
import shutil
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import submitit

from mnemon.errors import UserError
from mnemon.runner.crew import Ended
from mnemon.runner.messages import GRACE_SECONDS, Assignment, Standing
from mnemon.runner.process import WorkerProcess
from mnemon.runner.run import Run
from mnemon.sweep.node import JobFailed, see_through

FOLDER = "queue"  # in that of the experiment: what submitit hands to jobs, and their logs
REQUEUED = 1_000  # how often a job may come to its time limit and go on
SETTING = re.compile(r"([a-z_]+)=([\w.,:/@+-]+)")

Queue = Literal["local", "slurm"]


class QueuedJob:
    """What a job runs. At its time limit, or when it has to make room, it saves, is queued again and goes on."""

    def __init__(self) -> None:
        self._worker: WorkerProcess | None = None

    def __call__(self, line: str) -> None:
        """Carry out an assignment."""
        self._worker = WorkerProcess()
        see_through(self._worker, line)

    def checkpoint(self, line: str) -> "submitit.helpers.DelayedSubmission":
        """What to queue in its place; called by submitit when a signal tells it."""
        if self._worker is not None:
            self._worker.stop(GRACE_SECONDS)
        return submitit.helpers.DelayedSubmission(QueuedJob(), line)


class QueueCrew:
    """So many jobs in the queue at a time, each tried again where it fails."""

    def __init__(
        self,
        queue: Queue,
        folder: Path,
        *,
        at_once: int,
        retries: int,
        minutes: int,
        gpus: int,
        settings: Sequence[str] = (),
    ) -> None:
        for name, value, least in (("jobs", at_once, 1), ("minutes", minutes, 1), ("retries", retries, 0)):
            if value < least:
                raise UserError(f"{name} must be at least {least}, got {value}")
        self._queue, self._folder = queue, folder / FOLDER
        self._at_once, self._retries = at_once, retries
        self._parameters = {"name": "mnemon", "timeout_min": minutes, "cpus_per_task": 1, "gpus_per_node": gpus}
        self._parameters |= _slurm_settings(settings)
        self._waiting: deque[tuple[Run, Assignment]] = deque()
        self._working: dict[Any, tuple[Run, Assignment]] = {}  # by submitit's job
        self._failures: Counter[Path] = Counter()
        self._given_up = False  # any run

    def start(self, lock: int) -> None:  # noqa: ARG002 - jobs inherit nothing
        """Find the queue."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        try:
            self._executor = submitit.AutoExecutor(self._folder, cluster=self._queue, slurm_max_num_timeout=REQUEUED)
            self._executor.update_parameters(**self._parameters)
        except RuntimeError as error:
            raise UserError("there is no SLURM here: run this on a machine that has srun and sbatch") from error
        except NameError as error:
            raise UserError(f"--slurm: {str(error).splitlines()[0]}") from error

    def give(self, run: Run, assignment: Assignment) -> None:
        """Take on one more run."""
        self._waiting.append((run, assignment))

    @property
    def busy(self) -> bool:
        """Whether any run waits or is in the queue."""
        return bool(self._waiting or self._working)

    def ended(self) -> list[Ended]:
        """Queue what waits, as far as there is room, and tell what has ended."""
        while self._waiting and len(self._working) < self._at_once:
            run, assignment = self._waiting.popleft()
            job = self._executor.submit(QueuedJob(), assignment.to_line().decode())
            self._working[job] = run, assignment
        ended = []
        for job in [job for job in self._working if job.done()]:
            run, assignment = self._working.pop(job)
            self._failures[run.folder] += not run.finished
            if run.finished:
                ended.append(Ended(run, None))
            elif self._failures[run.folder] > self._retries:
                self._given_up = True
                ended.append(Ended(run, _last_words(job.paths.stderr)))
            else:
                self._waiting.append((run, assignment))
        return ended

    def standings(self) -> Mapping[str, Standing]:
        """Nothing is told from afar."""
        return {}

    def ask_to_stop(self) -> None:
        """Jobs are cancelled, and their workers save."""
        self._retries = 0
        self._waiting.clear()
        for job in self._working:
            job.cancel()

    def close(self) -> None:
        """Cancel what is left, and delete what submitit wrote, but for the logs of jobs that failed."""
        for job in self._working:
            job.cancel()
        if not self._given_up:
            shutil.rmtree(self._folder, ignore_errors=True)
        for pickled in self._folder.glob("*.pkl"):
            pickled.unlink(missing_ok=True)


def _slurm_settings(settings: Sequence[str]) -> dict[str, str]:
    """``partition=gpu`` as submitit wants it."""
    found = [SETTING.fullmatch(setting) for setting in settings]
    for setting, match in zip(settings, found, strict=True):
        if match is None:
            raise UserError(f"--slurm {setting}: write settings such as partition=gpu account=mine mem=4GB")
    return {f"slurm_{match[1]}": match[2] for match in found if match is not None}


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    said = [line.strip() for line in lines if line.strip()]
    return said[-1].rpartition(f"{JobFailed.__name__}: ")[2] if said else f"it left no word in {log}"
