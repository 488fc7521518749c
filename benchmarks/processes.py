"""How much faster two processes train than one: sequences a second, each process with one thread.

The same run, with the same batches of the same size, is launched by torchrun with one process and with two, which share
each batch. Rounds are interleaved, 1 2 1 2 … for each size of a batch in turn, because machines are noisy; the ratio is
that of a round, and the median of the rounds counts. Importing and starting is not counted, as it does not grow with
the run. It needs two cores that do nothing else:

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
MODEL = ("copy", "--model", "dnc", "--hidden", "256", "--slots", "64", "--word", "60", "--heads", "2")


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


def compare(rounds: int, steps: int, batches: list[int]) -> dict[str, Any]:
    """Sequences a second in each round, and what comes of them."""
    measured: dict[int, dict[int, list[float]]] = {batch: {count: [] for count in PROCESSES} for batch in batches}
    summary: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            for batch in batches:
                for processes in PROCESSES:
                    summary = measure(processes, steps, batch, Path(folder) / f"{number}-{batch}-{processes}")
                    measured[batch][processes].append(round(summary["steps_per_second"] * batch, 2))
    return {
        "model": " ".join(MODEL),
        "parameters": summary["parameters"],
        "steps": steps,
        "batches": [{"batch": batch, **summarise(rates)} for batch, rates in measured.items()],
        "provenance": summary["provenance"],
    }


def summarise(measured: dict[int, list[float]]) -> dict[str, Any]:
    """The medians and spreads of one size of a batch."""
    one, two = (measured[processes] for processes in PROCESSES)
    ratios = [second / first for first, second in zip(one, two, strict=True)]
    return {
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
    }


def spread(values: list[float]) -> float:
    """From the lowest to the highest, as a share of the median."""
    return (max(values) - min(values)) / statistics.median(values)


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("results/processes.json"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument(
        "--batches", type=int, nargs="+", default=[64, 256], help="rows of a batch, all processes together"
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.steps < 1 or any(batch < 2 or batch % 2 for batch in options.batches):
        parser.error("rounds and steps must be at least 1, and batches even")
    batches = " ".join(map(str, options.batches))
    command = f"python benchmarks/processes.py --rounds {options.rounds} --steps {options.steps} --batches {batches}"
    document = {"command": command, **compare(options.rounds, options.steps, options.batches)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_json(options.out, document)
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
