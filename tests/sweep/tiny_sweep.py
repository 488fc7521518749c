"""Run as a program: ``mnemon`` with an experiment of two models, whose finished runs keep their weights."""

import os
import subprocess
import sys
from pathlib import Path

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.runner.run import Run
from tests.runner.tiny_campaign import experiment, tiny_job

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
LONGER = {"steps": 3_000, "eval_every": 100, "checkpoint_every": 5}
TWO = experiment("two", tiny_job("two items", "LSTM", **LONGER), tiny_job("two items", "NTM", **LONGER))


def start(*arguments: str, folder: Path) -> "subprocess.Popen[str]":
    """``mnemon`` with that experiment, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.sweep.tiny_sweep", *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


if __name__ == "__main__":
    from mnemon.cli import main

    EXPERIMENTS["two"] = TWO
    Run.tidy = lambda _: None  # type: ignore[assignment, method-assign]
    main()
