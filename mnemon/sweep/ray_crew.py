"""The runs of a campaign as tasks of a Ray cluster.

Ray tries a task again, on whichever machine there is, when its process died or the job failed. A job goes on from its
last checkpoint, so that a try costs little.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from mnemon.errors import UserError
from mnemon.runner.crew import Ended
from mnemon.runner.messages import Assignment, Standing
from mnemon.runner.run import Run
from mnemon.sweep.cluster import connected
from mnemon.sweep.node import carry_out


class RayCrew:
    """A task for each run, of one processor and, where asked for, some GPUs."""

    def __init__(self, *, address: str, cpus: int, gpus: float, retries: int) -> None:
        if gpus < 0 or retries < 0:
            raise UserError(f"gpus and retries must be at least 0, got {gpus:g} and {retries}")
        self._address, self._cpus = address, cpus
        self._options = {"num_cpus": 1, "num_gpus": gpus, "max_retries": retries, "retry_exceptions": True}
        self._held = ExitStack()
        self._runs: dict[Any, Run] = {}  # by the reference to what its task will return

    def start(self, lock: int) -> None:  # noqa: ARG002 - processes of a cluster inherit nothing
        """Connect."""
        self._held.enter_context(connected(self._address, self._cpus))
        self._task = ray.remote(**self._options)(carry_out)

    def give(self, run: Run, assignment: Assignment) -> None:
        """Ray queues it."""
        self._runs[self._task.remote(assignment.to_line().decode())] = run

    @property
    def busy(self) -> bool:
        """Whether any run waits or is at work."""
        return bool(self._runs)

    def ended(self) -> list[Ended]:
        """The runs whose tasks have returned or were given up."""
        over, _ = ray.wait(list(self._runs), num_returns=len(self._runs), timeout=0) if self._runs else ([], [])
        return [Ended(self._runs.pop(task), _reason(task)) for task in over]

    def standings(self) -> Mapping[str, Standing]:
        """Nothing is told from afar."""
        return {}

    def ask_to_stop(self) -> None:
        """What waits is dropped; what is at work is interrupted, and saves."""
        for task in self._runs:
            ray.cancel(task)

    def close(self) -> None:
        """Disconnect, which ends a cluster of our own."""
        self._held.close()


def _reason(task: Any) -> str | None:
    """Why a task did not return."""
    try:
        ray.get(task)
    except RayTaskError as error:
        return str(error.cause)
    except RayError as error:
        return str(error).splitlines()[0]
    return None
