"""A campaign: the runs of an experiment that are not finished yet, given to a crew that carries them out.

A finished run leaves its records and summary; its checkpoints are deleted. A run that fails stops no other. One that
another experiment has finished is taken over.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mnemon.errors import UserError
from mnemon.report.description import NAME, Description, read_description
from mnemon.report.remarks import NAME as REMARKS
from mnemon.runner.crew import Crew
from mnemon.runner.display import Display
from mnemon.runner.job import Experiment
from mnemon.runner.local import LocalCrew
from mnemon.runner.messages import Assignment
from mnemon.runner.rates import Rates
from mnemon.runner.run import Run, check_same_job
from mnemon.runner.sharing import take_over
from mnemon.runner.work import Work
from mnemon.training.files import PARTIAL
from mnemon.training.interrupt import Interrupted, StopRequest
from mnemon.training.lock import only_one_in

POLL_SECONDS = 0.05
PATIENCE = 15.0  # seconds that the workers of a killed campaign may need to see it and save


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A run that ended without a result, and its last words."""

    run: Run
    reason: str


class Campaign:
    """An experiment in a folder. Making one checks what was asked and touches nothing."""

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        *,
        seeds: int,
        scale: float,
        only: str = "",
        data: Path | None = None,
        command: Sequence[str] = (),
        rates: Rates | None = None,
    ) -> None:
        if seeds < 1:
            raise UserError(f"seeds must be at least 1, got {seeds}")
        if not 0 < scale <= 1:
            raise UserError(f"scale is {scale:g}: write a number above 0, up to 1 for the full number of steps")
        self.experiment = experiment if rates is None else rates.applied_to(experiment, seeds)
        self.rates = rates
        self.folder = folder
        self.scale = scale
        self.data = data
        self.command = list(command)
        self.description = experiment.describe(scale)
        self.jobs = _wanted_jobs(self.experiment, only)
        if data is None and any(job.needs_data for job in self.jobs):
            raise UserError(f"{experiment.name} needs data: write --data and the folder that holds the data sets")
        # seeds outermost: every row has its first result early
        self.runs = [
            Run(job=job.for_run(seed, scale), folder=folder / "jobs" / job.folder / f"seed-{seed}")
            for seed in range(seeds)
            for job in self.jobs
        ]

    def go(self, *, resume: bool, processes: int, threads: int = 1, display: Display) -> list[Failure]:
        """Run what is not finished, so many processes at a time, of so many threads each; see :meth:`go_with`."""
        return self.go_with(LocalCrew(processes, threads), resume=resume, display=display)

    def go_with(self, crew: Crew, *, resume: bool, display: Display) -> list[Failure]:
        """Let a crew run what is not finished; raises :class:`Interrupted` when asked to stop, after all have saved."""
        self._check_folder(resume)
        self.folder.mkdir(parents=True, exist_ok=True)
        with only_one_in(self.folder, PATIENCE) as lock:
            self.description.write(self.folder)
            if self.rates is not None:
                self.rates.write(self.folder)
            unfinished = [run for run in self.runs if not run.finished]
            for run in self.runs:
                if run.finished:
                    run.tidy()
            display.start(self.description, done=len(self.runs) - len(unfinished), total=len(self.runs))
            try:
                waiting = [run for run in unfinished if not self._take_over(run, display)]
                return self._work_through(waiting, crew, lock, display) if waiting else []
            finally:
                display.stop()

    def _take_over(self, run: Run, display: Display) -> bool:
        taken = take_over(run, self.folder, experiment=self.experiment.name, scale=self.scale)
        if taken:
            display.finished(run.name, run.folder)
        return taken

    def _work_through(self, waiting: Sequence[Run], crew: Crew, lock: int, display: Display) -> list[Failure]:
        failures: list[Failure] = []
        try:
            crew.start(lock)
            with StopRequest() as stop:
                for run in waiting:
                    crew.give(run, self.assignment(run))
                asked = False
                while crew.busy:
                    if stop.wanted and not asked:
                        crew.ask_to_stop()
                        asked = True
                    for run, reason in crew.ended():
                        if run.finished:
                            run.tidy()
                            display.finished(run.name, run.folder)
                        elif not stop.wanted:
                            failures.append(Failure(run=run, reason=reason or f"nothing of it is in {run.folder}"))
                            display.failed(run.name, failures[-1].reason)
                    display.show(crew.standings())
                    time.sleep(POLL_SECONDS)
        finally:
            crew.close()
        unfinished = sum(not run.finished for run in self.runs)
        if stop.wanted and unfinished:
            raise Interrupted(
                f"interrupted: {len(self.runs) - unfinished} of {len(self.runs)} jobs are finished and kept in"
                f" {self.folder}; run the same command with --resume to go on"
            )
        return failures

    def assignment(self, run: Run) -> Assignment:
        """What a worker is told of a run."""
        return Assignment(
            job=run.job.to_json(),
            folder=str(run.folder),
            data=None if self.data is None else str(self.data),
            experiment=self.experiment.name,
            scale=self.scale,
            metric=self.experiment.metric,
            command=self.command,
        )

    def _check_folder(self, resume: bool) -> None:
        """Refuse a folder in which this campaign has no business, leaving it as it is."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} is a file: choose a folder with --out")
        begun = (self.folder / NAME).exists()
        if begun and not resume:
            raise UserError(f"{self.folder} has records already: add --resume to go on, or choose another --out")
        if resume and not begun:
            raise UserError(f"there is nothing to resume in {self.folder}: run the same command without --resume")
        if not begun and self.folder.exists() and not all(_may_stay(entry.name) for entry in self.folder.iterdir()):
            raise UserError(f"{self.folder} is not empty: choose another folder with --out")
        if begun:
            self._check_same(read_description(self.folder))
            for run in self.runs:
                if run.finished:
                    check_same_job(run)

    def _check_same(self, before: Description) -> None:
        if before.experiment != self.experiment.name:
            raise UserError(f"{self.folder} has records of {before.experiment}: choose another folder with --out")
        if before.scale != self.scale:
            raise UserError(
                f"{self.folder} has records of scale {before.scale:g}, not {self.scale:g}:"
                f" write --scale {before.scale:g} to go on, or choose another --out"
            )


def _may_stay(name: str) -> bool:
    """Whether a campaign may begin beside this: remarks, or what a write that was cut short has left."""
    return name == REMARKS or PARTIAL in name


def is_wanted(only: str, setting: str, model: str) -> bool:
    """Whether a row is one of those asked for, in whatever case."""
    return only.lower() in f"{setting} {model}".lower()


def _wanted_jobs(experiment: Experiment, only: str) -> list[Work]:
    jobs = experiment.work()
    if not jobs:
        raise UserError(f"{experiment.name} has no job that can be run yet: choose another experiment")
    wanted = [job for job in jobs if is_wanted(only, job.setting, job.model)]
    if not wanted:
        names = "; ".join(f"{job.setting} {job.model}" for job in jobs)
        raise UserError(f"no job of {experiment.name} has {only!r} in its name: the jobs are {names}")
    return wanted
