"""Runs that experiments share: what another one, in a folder beside, has finished is not trained again.

A table and the pictures of its models ask for the same runs. A run is the same if its job, seed and scale are, and then
it has the same place in both folders. Its files are copied as they are: its summary still says for which experiment it
was trained, by which command, and on which machine.
"""

import shutil
from pathlib import Path

from mnemon.errors import UserError
from mnemon.runner.run import Run, read_trained
from mnemon.training.files import PARTIAL, write_atomically


def take_over(run: Run, within: Path, *, experiment: str, scale: float) -> bool:
    """Whether the run was found beside ``within``, the folder of its experiment, and is now there as well.

    A run that was begun is left alone.
    """
    if run.folder.exists():
        return False
    for beside in sorted(within.parent.iterdir()):
        twin = Run(job=run.job, folder=beside / run.folder.relative_to(within))
        if twin.finished and _is_same(twin, experiment, scale):
            _copy(twin.folder, run.folder)
            return True
    return False


def _is_same(twin: Run, experiment: str, scale: float) -> bool:
    """Whether another experiment trained it, and from the same settings; what cannot be read did not."""
    try:
        trained = read_trained(twin)
    except UserError:
        return False
    same_job = trained.job.to_json() == twin.job.to_json()
    return same_job and trained.scale == scale and trained.experiment != experiment


def _copy(source: Path, target: Path) -> None:
    """All files, or nothing: the folder gets its name when it is whole."""
    partial = target.with_name(target.name + PARTIAL)
    shutil.rmtree(partial, ignore_errors=True)  # of a campaign that was killed here
    partial.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file() and not path.name.endswith(PARTIAL):
            write_atomically(partial / path.name, path.read_bytes())
    partial.rename(target)
