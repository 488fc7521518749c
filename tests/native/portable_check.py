"""Runs every variant of a portable build that this processor can, against the reference (`make portable`).

A variant has its own vector width and so its own sizes, which are remembered: each runs in a process of its own.
"""

import ctypes
import itertools
import subprocess
import sys
from pathlib import Path

import torch

from mnemon.native import library
from mnemon.native.library import VARIANTS, find, processor_flags


def check(variant: str) -> None:
    """In double precision to 1e-9, in single precision as far as rounding goes."""
    from tests.native.comparison import distance, outcome
    from tests.native.test_engine import MEMORIES, make_cell

    library.LIBRARY = ctypes.CDLL(str(Path(library.__file__).parent / variant))
    for memory, controller in itertools.product(MEMORIES, ("lstm", "gru")):
        cell = make_cell(memory, controller)
        exact = outcome(cell, "reference", 9, 3, [9, 0, 5])
        assert distance(exact, outcome(cell, "native", 9, 3, [9, 0, 5])) < 1e-9, (memory, controller)
        cell.float()
        assert distance(exact, outcome(cell, "native", 9, 3, [9, 0, 5])) < 1e-3, (memory, controller)
    print(f"{variant} gives what the reference gives")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if arguments := sys.argv[1:]:
        check(*arguments)
    else:
        here = Path(library.__file__).parent
        assert sorted(path.name for path in here.glob("*.so")) == sorted(VARIANTS), f"not a portable build: {here}"
        flags = processor_flags()
        print(f"loads {find(flags)}")
        for name, needs in VARIANTS.items():
            if needs <= flags:
                subprocess.run([sys.executable, "-m", "tests.native.portable_check", name], check=True)
            else:
                print(f"{name} not run: this processor lacks {', '.join(sorted(needs - flags))}")
