"""Run as a program: ``mnemon`` with an experiment of two models, whose finished runs keep their weights."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.runner.run import Run
from tests.runner.tiny_campaign import experiment, tiny_job

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
PATIENCE = 900.0  # seconds: what hangs must end, and what is slow on a busy machine may go on
LONGER = {"steps": 3_000, "eval_every": 100, "checkpoint_every": 5}
TWO = experiment("two", tiny_job("two items", "LSTM", **LONGER), tiny_job("two items", "NTM", **LONGER))


@contextmanager
def started(*arguments: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """``mnemon`` with that experiment, in a process of its own, of which nothing is left when a test fails."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.sweep.tiny_sweep", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    from mnemon.cli import main

    EXPERIMENTS["two"] = TWO
    Run.tidy = lambda _: None  # type: ignore[assignment, method-assign]
    main()
