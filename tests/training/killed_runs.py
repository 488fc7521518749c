"""Run as a program: train in child processes that die by SIGKILL, each resuming what the one before left.

``killed_runs.py OUT AT AT …`` lets the children kill themselves at the given crash points, then kills one from outside,
and lets a last one finish. Forking saves importing torch each time.
"""

import os
import signal
import sys
import time
from pathlib import Path

from tests.training.crash_points import CrashPoints
from tests.training.tiny_training import run_tiny, tiny_config


def child(out: Path, at: int | None) -> int:
    """Start a process that trains; one that is to be killed from outside trains for ever."""
    process = os.fork()
    if process == 0:
        with CrashPoints(at, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            run_tiny(out, tiny_config(steps=40), resume=(out / "run.json").exists())
        os._exit(0)
    return process


def ended_by(process: int) -> int:
    """The signal that ended a process, or 0."""
    _, status = os.waitpid(process, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else -os.WEXITSTATUS(status)


def main() -> None:
    out = Path(sys.argv[1])
    run_tiny(out.with_name("warm"), tiny_config(steps=1))  # imports what the children would import each
    for at in map(int, sys.argv[2:]):
        assert ended_by(child(out, at)) == signal.SIGKILL
    before = (out / "records.jsonl").stat().st_size
    process = child(out, None)
    deadline = time.monotonic() + 60
    while (out / "records.jsonl").stat().st_size <= before and time.monotonic() < deadline:
        time.sleep(0.0005)
    os.kill(process, signal.SIGKILL)
    assert ended_by(process) in (signal.SIGKILL, 0)  # 0: it had finished
    assert ended_by(child(out, None)) == 0


if __name__ == "__main__":
    main()
