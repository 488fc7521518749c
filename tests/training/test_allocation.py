"""Freed memory stays with the process."""

import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from mnemon.training.allocation import keep_freed_memory
{prepare}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def step():
    return len([torch.ones(2_500_000) for _ in range(8)])
step()
before = faults()
for _ in range(10):
    step()
print(faults() - before)
"""


def faults(prepare: str) -> int:
    program = FAULTS.format(prepare=prepare)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_a_block_that_is_freed_and_taken_again_costs_no_page_faults() -> None:
    kept = min(faults("keep_freed_memory()") for _ in range(3))  # a system may take pages away meanwhile
    assert kept < faults("") / 2
