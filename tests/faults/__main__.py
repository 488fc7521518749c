"""``make fault``: faults of every kind, done for real; the last line says what became of them."""

import sys
import tempfile
import time
from pathlib import Path

from tests.faults.damage import damages
from tests.faults.full_disk import full_disks, why_not
from tests.faults.kills import kills, terminations
from tests.faults.tally import Tally


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tallies: list[Tally] = [kills(folder, 200), terminations(folder, 20), *damages(folder, 100)]
        reason = why_not()
        if reason is None:
            tallies.append(full_disks(folder))
        else:
            print(f"full disk: skipped, {reason}")
    for tally in tallies:
        print(tally)
    total = Tally("all faults", *(sum(column) for column in zip(*(tally[1:] for tally in tallies), strict=True)))
    print(f"{total} ({time.monotonic() - began:.0f} s)")
    if total.survived < total.tried:
        sys.exit(1)


if __name__ == "__main__":
    main()
