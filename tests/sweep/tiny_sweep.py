"""Run as a program: ``mnemon`` with an experiment of two models, whose finished runs keep their weights."""

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.runner.run import Run
from tests.runner.tiny_campaign import experiment, tiny_job

LONGER = {"steps": 3000, "eval_every": 100, "checkpoint_every": 5}
TWO = experiment("two", tiny_job("two items", "LSTM", **LONGER), tiny_job("two items", "NTM", **LONGER))


if __name__ == "__main__":
    from mnemon.cli import main

    EXPERIMENTS["two"] = TWO
    Run.tidy = lambda _: None  # type: ignore[method-assign]
    main()
