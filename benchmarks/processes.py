"""How much faster two processes train than one: sequences a second, each process with one thread.

The same run, with the same batches of the same size, is launched by torchrun with one process and with two, which share
each batch. Rounds are interleaved, 1 2 1 2 …, because machines are noisy; the ratio is that of a round, and the median
of the rounds counts. Importing and starting is not counted, as it does not grow with the run:

    python benchmarks/processes.py --out results/processes.json
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mnemon.training.files import read_json, write_json

PROCESSES = (1, 2)
MODEL = ("copy", "--model", "dnc", "--hidden", "100", "--slots", "64", "--word", "20", "--heads", "2")


def measure(processes: int, steps: int, batch: int, out: Path) -> dict[str, Any]:
    """Train in so many processes; the summary of the run."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    train = ["-m", "mnemon", "train", *MODEL, "--batch-size", str(batch), "--steps", str(steps), "--out", str(out)]
    # one test, one checkpoint and one row, at the end
    seldom = ["--eval-every", str(steps), "--checkpoint-every", str(steps), "--log-every", str(steps)]
    done = subprocess.run(
        [*launch, *train, *seldom, "--eval-sequences", "2"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{processes} processes failed: {done.stderr}")
    return read_json(out / "summary.json")


def compare(rounds: int, steps: int, batch: int) -> dict[str, Any]:
    """Sequences a second in each round, and what comes of them."""
    measured: dict[int, list[float]] = {processes: [] for processes in PROCESSES}
    provenance: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for processes in PROCESSES:
                summary = measure(processes, steps, batch, Path(folder) / f"{number}-{processes}")
                measured[processes].append(round(summary["steps_per_second"] * batch, 2))
                provenance = summary["provenance"]
    one, two = (measured[processes] for processes in PROCESSES)
    ratios = [second / first for first, second in zip(one, two, strict=True)]
    return {
        "model": " ".join(MODEL),
        "batch": batch,
        "steps": steps,
        "rows": [
            {
                "processes": processes,
                "sequences_per_second": round(statistics.median(rates), 2),
                "spread": round(spread(rates), 3),
                "rounds": rates,
            }
            for processes, rates in measured.items()
        ],
        "ratio": round(statistics.median(ratios), 3),
        "ratio_spread": round(spread(ratios), 3),
        "provenance": provenance,
    }


def spread(values: list[float]) -> float:
    """From the lowest to the highest, as a share of the median."""
    return (max(values) - min(values)) / statistics.median(values)


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/processes.json"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if options.rounds < 1 or options.steps < 1 or options.batch < 2 or options.batch % 2:
        parser.error("rounds and steps must be at least 1, and the batch even")
    command = (
        f"python benchmarks/processes.py --rounds {options.rounds} --steps {options.steps} --batch {options.batch}"
    )
    document = {"command": command, **compare(options.rounds, options.steps, options.batch)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.out, document)
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
