"""How much faster two processes train than one, each with one thread.

Trains the same model on the same batches alone and in pairs, by turns, and writes steps per second with the facts of
the machine. It needs as many idle cores as processes; the load before each run is written down too.

    python benchmarks/parallel.py --out results/parallel.json
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from mnemon.training.files import write_json
from mnemon.training.versions import provenance

COMMAND = [
    *("-m", "mnemon", "train", "copy", "--model", "dnc", "--hidden", "100", "--slots", "64", "--word", "32"),
    *("--heads", "4", "--batch-size", "64", "--eval-sequences", "1", "--threads", "1", "--checkpoint-every", "100000"),
]
PROCESSES = (1, 2)


def steps_per_second(processes: int, steps: int) -> float:
    """What the summary of a run says that so many processes shared."""
    launch = [] if processes == 1 else ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    with tempfile.TemporaryDirectory() as folder:
        given = ["--steps", str(steps), "--eval-every", str(steps), "--out", f"{folder}/run"]
        subprocess.run(
            [sys.executable, *launch, *COMMAND, *given],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=True,
            capture_output=True,
        )
        return float(json.loads(Path(folder, "run", "summary.json").read_text())["steps_per_second"])


def main() -> None:
    """Measure by turns, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for _ in range(given.repeats):
        for processes in PROCESSES:
            load = os.getloadavg()[0]
            speed = steps_per_second(processes, given.steps)
            rows.append({"processes": processes, "steps_per_second": speed, "load_before": round(load, 2)})
            print(rows[-1], flush=True)
    median = {
        number: statistics.median(row["steps_per_second"] for row in rows if row["processes"] == number)
        for number in PROCESSES
    }
    speed_up = round(median[2] / median[1], 3)
    print(f"two processes: {speed_up} times the throughput of one")
    if given.out is not None:
        document = {"command": COMMAND, "steps": given.steps, "rows": rows, "speed_up": speed_up}
        write_json(given.out, document | {"provenance": provenance()})


if __name__ == "__main__":
    main()
