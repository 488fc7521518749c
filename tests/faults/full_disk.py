"""A disk that is full: a real one, a small tmpfs in a mount namespace of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

from mnemon.errors import UserError
from tests.faults.runs import CONFIG, undisturbed
from tests.faults.tally import Tally, count
from tests.training.tiny_training import run_tiny, weights_and_records

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
SIZES = [8, 12, 16, 24, 32, 40, 48]  # KiB: full at the first file, at a checkpoint, at a row


def why_not() -> str | None:
    """Why no disk can be made here, if none can."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    tried = subprocess.run([*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else None


def full_disks(folder: Path, sizes: list[int] = SIZES) -> Tally:
    """Train on disks of these sizes until they are full, then go on where there is room."""
    undisturbed(folder / "whole")
    outcomes = []
    for size in sizes:
        disk, kept = folder / f"disk-{size}", folder / f"kept-{size}"
        disk.mkdir()
        script = (
            f"mount -t tmpfs -o size={size}k none {disk} && {sys.executable} -m tests.faults.full_disk {disk} {kept}"
        )
        done = subprocess.run([*NAMESPACE, "sh", "-c", script], capture_output=True, text=True)
        outcomes.append(done.returncode == 0 and _goes_on(kept, folder / "whole"))
        shutil.rmtree(kept, ignore_errors=True)
        disk.rmdir()
    return count("full disk", outcomes)


def _goes_on(kept: Path, whole: Path) -> bool:
    run_tiny(kept, CONFIG, resume=(kept / "run.json").exists())
    return weights_and_records(kept) == weights_and_records(whole)


def main() -> None:
    """Train on the disk until it is full; what is there then is copied to where there is room."""
    disk, kept = map(Path, sys.argv[1:])
    try:
        run_tiny(disk / "run", CONFIG)
        sys.exit("the disk was never full")
    except UserError as error:
        if "No space left on device" not in str(error) or "\n" in str(error):
            sys.exit(f"not one clear line: {error}")
    shutil.copytree(disk / "run", kept) if (disk / "run").exists() else kept.mkdir()


if __name__ == "__main__":
    main()
