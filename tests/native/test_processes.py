"""The native engine under DistributedDataParallel."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from tests.native.two_processes import MEMORIES, gradients


def test_two_processes_have_the_gradients_of_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.native.two_processes", str(tmp_path)]
    root, environment = Path(__file__).parents[2], {**os.environ, "OMP_NUM_THREADS": "1"}
    both = [
        subprocess.Popen([*command, rank], cwd=root, env=environment, stderr=subprocess.PIPE, text=True)
        for rank in "01"
    ]
    errors = [process.communicate(timeout=900)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    two = torch.load(tmp_path / "gradients.pt")
    for memory in MEMORIES:
        one = gradients(memory, rank=0, processes=1)
        assert two[memory].keys() == one.keys()
        assert all(gradient.abs().max() > 1e-6 for gradient in one.values())
        torch.testing.assert_close(two[memory], one, rtol=0, atol=1e-9)
