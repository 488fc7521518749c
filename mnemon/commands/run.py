"""``mnemon run``: one table or figure of the thesis, ours beside its."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mnemon.commands.campaigns import default_folder, tell_outcome
from mnemon.commands.folders import data_folder
from mnemon.commands.typed import typed
from mnemon.experiments.catalogue import find_experiment
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import make_display
from mnemon.runner.rates import read_rates


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run an experiment of the thesis: every model in every setting, over several seeds, as separate jobs.

    Stop with Ctrl-C, or lose power, and go on with --resume: no finished job is run again, and an unfinished one goes
    on from its last checkpoint. Then see mnemon report.

    Example: mnemon run memorisation --seeds 1 --scale 0.01
    """

    experiment: Annotated[str, tyro.conf.Positional]
    """Name of the experiment, such as memorisation; a name that is none tells all there are."""
    seeds: int = 3
    """Runs of each model in each setting, with seeds 0, 1, …"""
    scale: float = 1.0
    """Share of the full number of steps; it is kept with the records."""
    out: Path | None = None
    """Folder of the experiment; by default results/EXPERIMENT, and runs/EXPERIMENT-SCALE for shortened ones."""
    jobs: int = 2
    """Processes at a time."""
    threads: int = 1
    """Threads of each process; more than one for a long job alone: jobs side by side use cores better."""
    only: str = ""
    """Run only the jobs with this in "setting model", such as "copy L=50 DNC"."""
    resume: bool = False
    """Go on with the experiment in the folder."""
    data: Path | None = None
    """Folder of the data sets, for experiments that need one; $MNEMON_DATA by default."""
    rates: Path | None = None
    """Learning rates that mnemon sweep --search has chosen: its learning-rates.json."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Run what is not finished, then print the table; exit with 1 where a job failed."""
        campaign = Campaign(
            find_experiment(self.experiment),
            self.out or default_folder(self.experiment, self.scale),
            seeds=self.seeds,
            scale=self.scale,
            only=self.only,
            data=data_folder(self.data),
            command=typed(),
            rates=None if self.rates is None else read_rates(self.rates),
        )
        failures = campaign.go(resume=self.resume, processes=self.jobs, threads=self.threads, display=make_display())
        tell_outcome(campaign, failures, only=self.only, as_json=self.json)
