"""``mnemon sweep``: an experiment on a cluster, with the same records as ``mnemon run``."""

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from mnemon.commands.campaigns import default_folder, tell_outcome
from mnemon.commands.folders import data_folder
from mnemon.commands.typed import typed
from mnemon.errors import UserError, require_package
from mnemon.experiments.catalogue import find_experiment
from mnemon.report.description import RATES
from mnemon.runner.campaign import Campaign
from mnemon.runner.crew import Crew
from mnemon.runner.display import make_display
from mnemon.runner.rates import read_rates
from mnemon.sweep.ladder import Ladder


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Run an experiment on a cluster: every model, setting and seed is a job of Ray, or of a SLURM queue.

    The records are those of mnemon run, in the same folder, and either goes on with --resume from what the other left.
    A job whose process or machine dies is tried again and goes on from its last checkpoint. All machines must share
    the folder.

    Example: mnemon sweep memorisation --scale 0.01 --jobs 2
    """

    experiment: Annotated[str, tyro.conf.Positional]
    """Name of the experiment, such as memorisation; a name that is none tells all there are."""
    executor: Literal["ray", "slurm", "local"] = "ray"
    """Who runs the jobs: Ray, SLURM, or (to try what SLURM would do) processes of this machine."""
    address: str = ""
    """Of a Ray cluster, such as 10.0.0.1:6379; without it Ray starts on this machine."""
    jobs: int = 2
    """Jobs at a time, on a machine of one's own or in the queue; a Ray cluster takes as many as it has processors."""
    retries: int = 2
    """How often a failed job is tried again."""
    gpus: float = 0.0
    """GPUs of each job; with Ray, several may share one."""
    minutes: int = 1_440
    """Time limit of a job in the queue; one that reaches it saves, and is queued again."""
    slurm: tuple[str, ...] = ()
    """Further settings of SLURM, such as partition=long account=mine mem=4GB."""
    seeds: int = 3
    """Runs of each model in each setting, with seeds 0, 1, …"""
    scale: float = 1.0
    """Share of the full number of steps; it is kept with the records."""
    out: Path | None = None
    """Folder of the experiment; by default results/EXPERIMENT, and runs/EXPERIMENT-SCALE for shortened ones."""
    only: str = ""
    """Run only the jobs with this in "setting model", such as "copy L=50 DNC"."""
    resume: bool = False
    """Go on with the experiment in the folder."""
    data: Path | None = None
    """Folder of the data sets, for experiments that need one; $MNEMON_DATA by default."""
    rates: Path | None = None
    """Learning rates that a search has chosen: its learning-rates.json."""
    json: bool = False
    """Print one JSON document instead of a table."""
    search: Literal["learning-rate"] | None = None
    """Instead of running the experiment, search for the learning rate of each job with Ray Tune."""
    lowest: float = 1e-5
    """Lowest learning rate of a search."""
    highest: float = 1e-2
    """Highest learning rate of a search."""
    trials: int = 7
    """Learning rates of a search, from the lowest to the highest; the experiment's own is tried as well."""
    search_seed: int = 1_000
    """Seed of a search, which no reported run may have."""

    def run(self) -> None:
        """Run what is not finished, then print the table; or search. Exit with 1 where a job failed."""
        campaign = self._campaign()
        if self.search is not None:
            self._search(campaign)
            return
        failures = campaign.go_with(self._crew(campaign.folder), resume=self.resume, display=make_display())
        tell_outcome(campaign, failures, only=self.only, as_json=self.json)

    def _campaign(self) -> Campaign:
        data = data_folder(self.data)
        usual = default_folder(self.experiment, self.scale)
        if self.search is not None:
            usual = Path("runs") / f"{usual.name}-{self.search}"
        return Campaign(
            find_experiment(self.experiment),
            (self.out or usual).resolve(),  # jobs begin elsewhere
            seeds=self.seeds,
            scale=self.scale,
            only=self.only,
            data=None if data is None else data.resolve(),
            command=typed(),
            rates=None if self.rates is None else read_rates(self.rates),
        )

    def _search(self, campaign: Campaign) -> None:
        if self.executor != "ray":
            raise UserError(f"a search needs Ray: leave out --executor {self.executor}")
        if self.search_seed < self.seeds:
            raise UserError(f"search-seed {self.search_seed} is one of the seeds reported: write {self.seeds} or more")
        require_package("ray", "a search", "sweep")
        ladder = Ladder(lowest=self.lowest, highest=self.highest, count=self.trials)
        from mnemon.sweep.cluster import connected
        from mnemon.sweep.search import Search

        search = Search(campaign, ladder, self.search_seed)
        with connected(self.address, self.jobs):
            found = search.go(resume=self.resume, gpus=self.gpus, retries=self.retries, say=_say)
        if self.json:
            print(json.dumps(dataclasses.asdict(found), indent=2, allow_nan=False))
        record = campaign.folder / RATES
        _say(f"kept in {record}; mnemon run {self.experiment} --rates {record} --out FOLDER")
        if any(job.chosen is None for job in found.jobs):
            sys.exit(1)

    def _crew(self, folder: Path) -> Crew:
        if self.executor == "ray":
            require_package("ray", "a sweep", "sweep")
            from mnemon.sweep.ray_crew import RayCrew

            return RayCrew(address=self.address, cpus=self.jobs, gpus=self.gpus, retries=self.retries)
        if self.address:
            raise UserError(f"--address {self.address} is for Ray: leave it out, or leave out --executor")
        if self.gpus != int(self.gpus):
            raise UserError(f"gpus is {self.gpus:g}: a queue gives whole ones")
        require_package("submitit", "a queue", "sweep")
        from mnemon.sweep.queue_crew import QueueCrew

        return QueueCrew(
            self.executor,
            folder,
            at_once=self.jobs,
            retries=self.retries,
            minutes=self.minutes,
            gpus=int(self.gpus),
            settings=self.slurm,
        )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
