import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compile_check import MEMORIES


@pytest.mark.parametrize("memory", MEMORIES)
def test_compiles_without_graph_breaks_and_exports_steps_and_sequences(memory: str) -> None:
    root = Path(__file__).parent.parent
    run = subprocess.run(
        [sys.executable, "-m", "tests.compile_check", memory],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "all the same", run.stderr
