"""Run by torchrun: one run shared by all processes that were launched."""

import sys
from pathlib import Path

from tests.training.test_views import network, run
from tests.training.tiny_training import run_tiny, tiny_config, tiny_model

if __name__ == "__main__":
    out = Path(sys.argv[1])
    if len(sys.argv) > 2:  # the name of a model of views
        run(out, tiny_config(steps=4, teacher=1.0), network(sys.argv[2]))
        sys.exit()
    run_tiny(out, model=tiny_model(dropout=0.0))
    run_tiny(out, tiny_config(steps=14), model=tiny_model(dropout=0.0), resume=True)
