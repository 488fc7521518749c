"""Learning rates of a search: what is chosen, and runs with it."""

import dataclasses
from pathlib import Path

import pytest

from mnemon.errors import UserError
from mnemon.report.results import read_results
from mnemon.runner.campaign import Campaign
from mnemon.runner.display import LineDisplay
from mnemon.runner.job import Experiment
from mnemon.runner.rates import FINISHED, STOPPED, Rates, Searched, Trial, choose, read_rates
from tests.runner.tiny_campaign import LONG, TINY, run_in_this_process


def trial(rate: float, *losses: float | None, ended: str = FINISHED) -> Trial:
    return Trial(learning_rate=rate, steps=list(range(len(losses))), losses=list(losses), ended=ended)


def rates(chosen: float | None) -> Rates:
    searched = Searched(
        setting="two items",
        model="LSTM",
        folder="two-items/lstm",
        test="same",
        own=1e-4,
        chosen=chosen,
        trials=[trial(0.25, 1.0, 0.5), trial(1.0, None, ended=STOPPED)],
    )
    return Rates(experiment="tiny", scale=1.0, seed=10, jobs=[searched])


def learning_rates(experiment: Experiment) -> list[float]:
    return [job.training.learning_rate for job in experiment.jobs()]


@pytest.mark.parametrize(
    ("trials", "chosen"),
    [
        ([trial(0.1, 3.0, 2.0), trial(0.2, 9.0, 1.0), trial(0.3, 0.5, 4.0)], 0.2),
        ([trial(0.1, 2.0), trial(0.2, 1.0, ended=STOPPED), trial(0.3, 0.0, ended="it failed")], 0.1),
        ([trial(0.1, None), trial(0.2, 7.0)], 0.2),
        ([trial(0.2, 7.0), trial(0.1, 7.0)], 0.1),
        ([trial(0.1, None), trial(0.2, 1.0, ended=STOPPED), trial(0.3)], None),
        ([], None),
    ],
)
def test_the_lowest_last_loss_of_those_that_finished_is_chosen(trials: list[Trial], chosen: float | None) -> None:
    assert choose(trials) == chosen


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    rates(0.25).write(tmp_path)
    assert read_rates(tmp_path) == read_rates(tmp_path / "learning-rates.json") == rates(0.25)


def test_only_jobs_that_were_searched_change() -> None:
    own = learning_rates(TINY)
    assert learning_rates(rates(0.25).applied_to(TINY, seeds=10)) == [0.25, own[1]]
    assert learning_rates(rates(None).applied_to(TINY, seeds=10)) == own


def test_runs_have_the_rate_and_the_report_tells(tmp_path: Path) -> None:
    campaign = Campaign(TINY, tmp_path / "out", seeds=1, scale=1.0, only="LSTM", rates=rates(0.25))
    assert campaign.runs[0].job.to_json()["training"]["learning_rate"] == 0.25
    run_in_this_process(TINY, campaign.folder)
    (campaign.folder / "jobs/two-items/lstm/seed-0/summary.json").unlink()
    command = read_results(campaign.folder).command
    rates(0.25).write(campaign.folder)
    assert read_results(campaign.folder).command == [*command, "--rates", str(campaign.folder / "learning-rates.json")]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="these learning rates are of tiny, not of long"):
        rates(0.25).applied_to(LONG, seeds=1)
    with pytest.raises(UserError, match="seed 10 was searched with: write --seeds 10 or less"):
        Campaign(TINY, tmp_path, seeds=11, scale=1.0, rates=rates(0.25))
    with pytest.raises(UserError, match="cannot read"):
        read_rates(tmp_path)
    TINY.describe(1.0).write(tmp_path)
    with pytest.raises(UserError, match="is not the record of a search: give the learning-rates"):
        read_rates(tmp_path / "experiment.json")


def test_a_campaign_keeps_the_rates_that_it_runs_with(tmp_path: Path) -> None:
    nothing = dataclasses.replace(TINY, literature=())
    run_in_this_process(rates(0.25).applied_to(nothing, seeds=1), tmp_path / "out")
    campaign = Campaign(nothing, tmp_path / "out", seeds=1, scale=1.0, rates=rates(0.25))
    assert campaign.go(resume=True, processes=1, display=LineDisplay()) == []
    assert read_rates(tmp_path / "out") == rates(0.25)
    with pytest.raises(UserError, match="is of a run with another training"):
        Campaign(nothing, tmp_path / "out", seeds=1, scale=1.0).go(resume=True, processes=1, display=LineDisplay())
