"""A search for learning rates with Ray Tune: for each job a ladder of rates, of which ASHA stops the poor ones early.

The rates are a geometric ladder with the experiment's own among them. A trial is a run like any other, with a seed that
no reported run has, and therefore other batches and other held-out sequences. It is judged by its loss on the test that
early stopping watches too, the first (a validation set, where there is one). ASHA lets a third of the trials go on from
each rung of evaluations to the next, three times as many. The rate of the lowest loss among those that came to their
end is chosen.
"""

import dataclasses
import math
import shutil
from collections.abc import Callable, Mapping

from ray import tune
from ray.tune.schedulers import ASHAScheduler

from mnemon.errors import UserError
from mnemon.report.description import RATES
from mnemon.runner.campaign import Campaign
from mnemon.runner.job import Job
from mnemon.runner.rates import FINISHED, STOPPED, Rates, Searched, Trial, choose, read_rates, with_rate
from mnemon.runner.run import Run
from mnemon.sweep.ladder import Ladder
from mnemon.sweep.trial import WatchedRun, watched_rows
from mnemon.training.interrupt import Interrupted
from mnemon.training.lock import only_one_in
from mnemon.training.record import json_number

REDUCTION = 3  # one in so many goes on to the next rung
TUNE = "tune"  # Tune's own folder, there while it is at work


class Search:
    """A search for the jobs of a campaign, in its folder. Making one checks what was asked and touches nothing."""

    def __init__(self, campaign: Campaign, ladder: Ladder, seed: int) -> None:
        self._campaign, self._ladder, self._seed = campaign, ladder, seed
        self._folder = campaign.folder
        self._jobs = [job for job in campaign.jobs if isinstance(job, Job) and job.classical is None]
        if not self._jobs:
            raise UserError(f"no job of {campaign.experiment.name} that was asked for has a learning rate")

    def go(self, *, resume: bool, gpus: float, retries: int, say: Callable[[str], None]) -> Rates:
        """Search for what is not yet in the record; call it while connected to a cluster."""
        done = self._begun(resume)
        self._folder.mkdir(parents=True, exist_ok=True)
        with only_one_in(self._folder):
            for job in self._jobs:
                if job.folder in {searched.folder for searched in done}:
                    continue
                try:
                    searched = self._search(job, gpus, retries)
                except KeyboardInterrupt as error:
                    raise Interrupted(
                        f"interrupted: {len(done)} of {len(self._jobs)} jobs are in {self._folder / RATES};"
                        " run the same command with --resume to go on"
                    ) from error
                done.append(searched)
                self._record(done).write(self._folder)
                chosen = "no trial finished" if searched.chosen is None else f"{searched.chosen:g}"
                say(f"[{len(done)}/{len(self._jobs)}] {job.setting}, {job.model}: {chosen} (its own: {searched.own:g})")
        return self._record(done)

    def _record(self, done: list[Searched]) -> Rates:
        campaign = self._campaign
        return Rates(experiment=campaign.experiment.name, scale=campaign.scale, seed=self._seed, jobs=done)

    def _begun(self, resume: bool) -> list[Searched]:
        """What is in the record already."""
        if not (self._folder / RATES).exists():
            return []
        if not resume:
            raise UserError(f"{self._folder} has a search already: add --resume to go on, or choose another --out")
        before = read_rates(self._folder)
        if before != self._record(before.jobs):
            raise UserError(f"{self._folder} has a search with other settings: choose another --out")
        return before.jobs

    def _search(self, job: Job, gpus: float, retries: int) -> Searched:
        own, shortened = job.training.learning_rate, job.for_run(self._seed, self._campaign.scale)
        test = next(iter(job.open(self._campaign.data)[1]))
        runs = {rate: self._run(shortened, rate) for rate in self._ladder.rates(own)}
        lines = {rate: self._campaign.assignment(run).to_line().decode() for rate, run in runs.items()}
        evaluations = math.ceil(shortened.training.steps / shortened.training.eval_every)
        failed = self._tune(lines, test, evaluations, gpus, retries)
        trials = [_trial(rate, run, test, failed.get(lines[rate])) for rate, run in runs.items()]
        for run in runs.values():
            run.tidy()
        return Searched(
            setting=job.setting,
            model=job.model,
            folder=job.folder,
            test=test,
            own=own,
            chosen=choose(trials),
            trials=trials,
        )

    def _run(self, job: Job, rate: float) -> Run:
        trial = dataclasses.replace(with_rate(job, rate), trace=False)
        return Run(job=trial, folder=self._folder / "trials" / job.folder / f"rate-{rate:g}")

    def _tune(
        self, lines: Mapping[float, str], test: str, evaluations: int, gpus: float, retries: int
    ) -> dict[str, str]:
        """Let Tune work through the trials; why those failed that did, by their lines.

        Tune keeps pickles of its own while it is at work. They are deleted, and nothing is ever loaded from them: a
        search that was stopped goes on from the folders of its trials.
        """
        storage = self._folder / TUNE
        first_rung = math.ceil(evaluations / REDUCTION**2)
        try:
            results = tune.Tuner(
                tune.with_resources(WatchedRun, {"cpu": 1, "gpu": gpus}),
                param_space={"line": tune.grid_search(list(lines.values())), "test": test},
                tune_config=tune.TuneConfig(
                    metric="loss",
                    mode="min",
                    scheduler=ASHAScheduler(max_t=evaluations, grace_period=first_rung, reduction_factor=REDUCTION),
                ),
                run_config=tune.RunConfig(
                    storage_path=str(storage),
                    verbose=0,
                    checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
                    failure_config=tune.FailureConfig(max_failures=retries),
                ),
            ).fit()
            return {result.config["line"]: failure for result in results if (failure := _failure(result))}
        finally:
            shutil.rmtree(storage, ignore_errors=True)


def _failure(result: tune.Result) -> str | None:
    """Why a trial failed, if it did: the process of Tune, or the run."""
    if result.error is not None:
        return str(result.error).splitlines()[0]
    failed: str | None = (result.metrics or {}).get("failed")
    return failed


def _trial(rate: float, run: Run, test: str, failure: str | None) -> Trial:
    rows = watched_rows(run.folder, test)
    return Trial(
        learning_rate=rate,
        steps=[row.step for row in rows],
        losses=[json_number(row.loss) for row in rows],
        ended=FINISHED if run.finished else failure or STOPPED,
    )
