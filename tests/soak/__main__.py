"""``make soak``: long runs in minutes, or in hours with ``--minutes`` and ``--steps``."""

import argparse
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.soak.sequence import in_a_process, train_once
from tests.soak.streaming import stream
from tests.soak.training import soak

LONG, REPLAY, MOST = 100_000, 500, 2 * 1024 * 1024  # steps, steps, kilobytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0, help="of training in rounds")
    parser.add_argument("--steps", type=int, default=1_000_000, help="of inference with the native engine")
    parser.add_argument("--reference-steps", type=int, default=1_000_000, help="of inference with the reference engine")
    given = parser.parse_args()
    peak = in_a_process(partial(train_once, LONG, REPLAY))
    print(f"a step of training on {LONG:,} steps: peak of {peak / 1024:.0f} MiB", flush=True)
    assert peak < MOST
    with tempfile.TemporaryDirectory() as folder:
        rounds, before, after = soak(Path(folder), 60 * given.minutes)
    grown = after.growth_since(before)
    files = f"open files {before.files} to {after.files}"
    print(f"{rounds} rounds of training: memory grew by {grown:.2%}, {files}", flush=True)
    assert grown < 0.01
    assert after.files == before.files
    for engine, steps in (("native", given.steps), ("reference", given.reference_steps)):
        began = time.monotonic()
        grown = stream(engine, steps)  # type: ignore[arg-type]
        took = (time.monotonic() - began) / steps
        print(f"{steps:,} steps, {engine}: memory grew by {grown:.2%}, {1e6 * took:.0f} µs a step", flush=True)
        assert grown < 0.01


if __name__ == "__main__":
    main()
