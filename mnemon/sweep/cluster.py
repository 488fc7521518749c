"""A Ray cluster: one that is there, or one on this machine for as long as it is needed.

It reports nothing to its makers and shows no dashboard.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import ray

from mnemon.errors import UserError

OBJECT_STORE = 80 * 2**20  # bytes: what goes through it is a few lines of text
STARTS = 3
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # jobs run as those of mnemon run do
    "RAY_AIR_NEW_OUTPUT": "0",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",  # Ctrl-C ends a search, which can be resumed
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",  # trials keep records of their own
}


@contextmanager
def connected(address: str, cpus: int) -> Iterator[None]:
    """Use the cluster at an address, or one of ``cpus`` processors on this machine where that is empty."""
    if cpus < 1:
        raise UserError(f"jobs must be at least 1, got {cpus}")
    os.environ.update(ENVIRONMENT)
    try:
        if address:
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            _start(cpus)
    except Exception as error:  # ray raises nothing narrower
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        where = f"the cluster at {address}" if address else "a cluster on this machine"
        raise UserError(f"cannot use {where}: {reason}") from error
    try:
        with redirect_stdout(sys.stderr):  # Ray tells of each new try, and must not do so amid a JSON document
            yield
    finally:
        ray.shutdown()


def _start(cpus: int, tries: int = STARTS) -> None:
    """Start a cluster; again, where a busy machine takes longer than the half minute that Ray allows."""
    try:
        ray.init(
            "local",
            num_cpus=cpus,
            object_store_memory=OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception:
        ray.shutdown()
        if tries == 1:
            raise
        _start(cpus, tries - 1)
