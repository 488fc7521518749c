"""Run as a program: ``mnemon`` with tiny experiments beside the thesis's. Also their jobs, for tests in one process."""

from pathlib import Path
from typing import Any

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.models.config import ModelConfig
from mnemon.runner.campaign import Campaign
from mnemon.runner.job import Experiment, Job, Literature
from mnemon.runner.messages import Assignment
from mnemon.tasks.copy import Copy
from mnemon.training.config import TrainConfig
from mnemon.training.progress import SilentProgress

TASK = Copy(bits=2, min_length=2, max_length=2)


def tiny_job(setting: str, model: str, **training: Any) -> Job:
    """A job of a fraction of a second; an NTM leaves a trace."""
    settings = {"steps": 60, "batch_size": 2, "log_every": 20, "eval_every": 30, "eval_sequences": 4}
    return Job(
        setting=setting,
        model=model,
        task=TASK,
        tests={"same": TASK},
        test="same",
        config=ModelConfig(name=model.lower(), hidden=4, slots=3, word=3),
        training=TrainConfig(**{**settings, "checkpoint_every": 5, **training}),
        thesis=12.5,
        thesis_parameters=1_000,
        trace=model == "NTM",
    )


def experiment(name: str, *jobs: Job) -> Experiment:
    return Experiment(
        name=name,
        title=f"The {name} experiment",
        thesis="§0",
        file="tests/runner/tiny_campaign.py",
        jobs=lambda: list(jobs),
        metric="bit_accuracy",
        literature=[Literature(setting=jobs[0].setting, model="Oracle", thesis=100.0)],
    )


TINY = experiment("tiny", tiny_job("two items", "LSTM"), tiny_job("two items", "NTM"))
LONG = experiment("long", tiny_job("short", "LSTM"), tiny_job("long", "LSTM", steps=1_500, checkpoint_every=10))
BROKEN = experiment(
    "broken", tiny_job("good", "LSTM"), tiny_job("bad", "LSTM", optimiser="adam", learning_rate=1e38, clip_value=None)
)


def run_in_this_process(experiment: Experiment, folder: Path, *, seeds: int = 1, data: Path | None = None) -> None:
    """What a campaign leaves, without one: every run straight through."""
    from mnemon.runner.worker import work

    campaign = Campaign(experiment, folder, seeds=seeds, scale=1.0, data=data)
    folder.mkdir(parents=True)
    campaign.description.write(folder)
    for run in campaign.runs:
        assignment = Assignment(
            job=run.job.to_json(),
            folder=str(run.folder),
            data=None if data is None else str(data),
            experiment=experiment.name,
            scale=1.0,
            metric=experiment.metric,
            command=[],
        )
        work(assignment, SilentProgress())
        run.tidy()


if __name__ == "__main__":
    from mnemon.cli import main

    EXPERIMENTS.update({made.name: made for made in (TINY, LONG)})
    main()
