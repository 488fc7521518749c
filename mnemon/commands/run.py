"""``mnemon run``: one table or figure of the thesis, ours beside its."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mnemon.commands.folders import data_folder
from mnemon.experiments.catalogue import find_experiment
from mnemon.report.description import RowDescription
from mnemon.report.results import Results, Row, read_results
from mnemon.report.tables import COLUMNS, cells, document
from mnemon.runner.campaign import Campaign, is_wanted
from mnemon.runner.display import make_display


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
    """Processes at a time, of one thread each."""
    only: str = ""
    """Run only the jobs with this in "setting model", such as "copy L=50 DNC"."""
    resume: bool = False
    """Go on with the experiment in the folder."""
    data: Path | None = None
    """Folder of the data sets, for experiments that need one; $MNEMON_DATA by default."""
    json: bool = False
    """Print one JSON document instead of a table."""

    def run(self) -> None:
        """Run what is not finished, then print the table; exit with 1 where a job failed."""
        campaign = Campaign(
            find_experiment(self.experiment),
            self.out or self._default_folder(),
            seeds=self.seeds,
            scale=self.scale,
            only=self.only,
            data=data_folder(self.data),
            command=["mnemon", *sys.argv[1:]],
        )
        failures = campaign.go(resume=self.resume, processes=self.jobs, display=make_display())
        ran = {run.job.folder for run in campaign.runs}
        self._print(read_results(campaign.folder), lambda row: self._is_shown(row.described, ran))
        if failures:
            print(
                f"mnemon: {len(failures)} of {len(campaign.runs)} jobs failed; run the same command with --resume to"
                " try them again",
                file=sys.stderr,
            )
            sys.exit(1)

    def _default_folder(self) -> Path:
        """Full runs are kept with the code; shortened ones are for looking, and stay out of their way."""
        full = Path("results") / self.experiment
        return full if self.scale == 1 else Path("runs") / f"{self.experiment}-{self.scale:g}"

    def _is_shown(self, row: RowDescription, ran: set[str]) -> bool:
        """Whether a row is of a job that was wanted, or quoted beside one."""
        return is_wanted(self.only, row.setting, row.model) if row.folder is None else row.folder in ran

    def _print(self, results: Results, wanted: Callable[[Row], bool]) -> None:
        if self.json:
            shown = document(results, wanted)
            print(json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False))
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table

        described = results.description
        table = Table(
            title=f"{described.title}: {described.metric_label}, scale {described.scale:g}",
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        for column in COLUMNS:
            words = column in ("setting", "model")
            table.add_column(column, justify="left" if words else "right", no_wrap=words)
        for row in results.rows:
            if wanted(row):
                table.add_row(*cells(row))
        Console().print(table)
        Console(stderr=True).print(f"kept in {results.folder}; mnemon report {results.folder}", highlight=False)
