"""Runs in processes of this machine, some at a time."""

from collections import deque
from collections.abc import Mapping

from mnemon.errors import UserError
from mnemon.runner.crew import Ended
from mnemon.runner.messages import Assignment, Standing
from mnemon.runner.process import WorkerProcess
from mnemon.runner.run import Run


class LocalCrew:
    """So many worker processes at most, of so many threads each; one that has finished a run takes another."""

    def __init__(self, processes: int, threads: int = 1) -> None:
        if processes < 1:
            raise UserError(f"jobs must be at least 1, got {processes}")
        if threads < 1:
            raise UserError(f"threads must be at least 1, got {threads}")
        self._processes, self._threads = processes, threads
        self._waiting: deque[tuple[Run, Assignment]] = deque()
        self._working: dict[WorkerProcess, Run] = {}
        self._idle: list[WorkerProcess] = []

    def start(self, lock: int) -> None:
        """Processes inherit the lock: it is free only when the last of them is gone."""
        self._lock = lock

    def give(self, run: Run, assignment: Assignment) -> None:
        """Take on one more run."""
        self._waiting.append((run, assignment))

    @property
    def busy(self) -> bool:
        """Whether any run waits or is at work."""
        return bool(self._waiting or self._working)

    def ended(self) -> list[Ended]:
        """Hand out what waits, and tell what has ended."""
        while self._waiting and len(self._working) < self._processes:
            worker = self._idle.pop() if self._idle else WorkerProcess(self._lock, self._threads)
            self._working[worker], assignment = self._waiting.popleft()
            worker.give(assignment)
        over = [worker for worker in self._working if worker.finished or worker.ended]
        return [self._put_away(worker, self._working.pop(worker)) for worker in over]

    def _put_away(self, worker: WorkerProcess, run: Run) -> Ended:
        ended = Ended(run, None if worker.finished else worker.last_words())
        if worker.ended:
            worker.close()
        else:
            self._idle.append(worker)
        return ended

    def standings(self) -> Mapping[str, Standing]:
        """As the workers tell."""
        return {run.name: worker.standing for worker, run in self._working.items()}

    def ask_to_stop(self) -> None:
        """The workers save and end."""
        self._waiting.clear()
        for worker in self._working:
            worker.ask_to_stop()

    def close(self) -> None:
        """End all processes at once."""
        for worker in (*self._working, *self._idle):
            worker.kill()
