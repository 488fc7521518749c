"""A run of a campaign: a job with its seed, and the folder that it leaves its records in."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from mnemon.errors import UserError
from mnemon.runner.measurement import work_from_json
from mnemon.runner.work import Work
from mnemon.training.directory import RunDirectory
from mnemon.training.files import read_json


@dataclass(frozen=True, kw_only=True)
class Run:
    """A job with its seed and its folder."""

    job: Work
    folder: Path

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.job.setting}, {self.job.model}, seed {self.job.seed}"

    @property
    def finished(self) -> bool:
        """Whether all that it leaves is there."""
        return self.job.is_finished(RunDirectory(self.folder))

    def tidy(self) -> None:
        """Delete what only an unfinished run needs, and what is of use with its weights alone."""
        kept = RunDirectory(self.folder)
        shutil.rmtree(kept.checkpoints, ignore_errors=True)
        kept.task.unlink(missing_ok=True)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What the summary of a finished run says that it was."""

    experiment: str
    scale: float
    job: Work


def read_trained(run: Run) -> Trained:
    """From the summary of a finished run."""
    path = RunDirectory(run.folder).summary
    try:
        described = read_json(path)["config"]["run"]
        job = work_from_json(described["job"])
        return Trained(experiment=described["experiment"], scale=described["scale"], job=job)
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is not the summary of a job: move it away, or choose another --out") from error


def check_same_job(run: Run) -> None:
    """A finished run counts only for the job that it was a run of."""
    before, now = read_trained(run).job.to_json(), run.job.to_json()
    for name, value in now.items():
        if before[name] != value:
            path = RunDirectory(run.folder).summary
            raise UserError(f"{path} is of a run with another {name}: move it away, or choose another --out")
