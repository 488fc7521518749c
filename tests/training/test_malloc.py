"""Freed memory is taken again without a fault for each page."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import torch
from mnemon.training.malloc import keep_freed_memory

keep_freed_memory()
for step in range(20):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    parts = [torch.zeros(3_000_000) for _ in range(5)]
    del parts
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other C libraries are left as they are")
def test_a_step_takes_what_the_last_one_freed() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100  # else as many as it has pages, here some 14,000
