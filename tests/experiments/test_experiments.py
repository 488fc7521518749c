"""Every experiment of the catalogue can be run: its jobs are whole, distinct, and learn."""

import dataclasses
import json

import pytest

from mnemon.errors import UserError
from mnemon.experiments import documents, memorisation, pixel_mnist, reasoning
from mnemon.experiments.catalogue import EXPERIMENTS, find_experiment
from mnemon.experiments.optimal_writing import CUW, DNC, LSTM, RW, UW, Model, model_config
from mnemon.models.catalogue import build_model
from mnemon.runner.job import Experiment, Job
from mnemon.runner.parameters import count_parameters
from mnemon.runner.sources import DataTask

ALL = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
SYNTHETIC = [
    pytest.param(job, id=f"{experiment.name} {job.setting} {job.model}")
    for experiment in EXPERIMENTS.values()
    for job in experiment.jobs()
    if not isinstance(job.task, DataTask)
]


@ALL
def test_jobs_are_distinct_and_go_through_json(experiment: Experiment) -> None:
    jobs = experiment.jobs()
    assert len({job.folder for job in jobs}) == len(jobs)
    for job in jobs:
        back = Job.from_json(json.loads(json.dumps(job.to_json())))
        assert dataclasses.replace(back, thesis=job.thesis, thesis_parameters=job.thesis_parameters) == job


@ALL
def test_descriptions_have_every_row(experiment: Experiment) -> None:
    described = experiment.describe(1.0)
    assert len(described.rows) == len(experiment.jobs()) + len(experiment.literature)
    settings = [row.setting for row in described.rows]
    assert settings == sorted(settings, key=settings.index), "rows of a setting stand together"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("job", SYNTHETIC)
def test_models_build_and_learn(job: Job) -> None:
    task, _ = job.open(None)
    counts = count_parameters(build_model(job.config, task.input_size, task.output_size), task, 2, 0)
    assert 0 < counts.effective <= counts.total


@pytest.mark.parametrize("table", [memorisation, reasoning, pixel_mnist, documents])
def test_thesis_values_belong_to_settings(table: object) -> None:
    thesis, settings = vars(table)["THESIS"], vars(table)["SETTINGS"]
    assert list(thesis) == list(settings)
    assert all(0 < value <= 100 for values in thesis.values() for value in values.values())


def test_table_of_documents_has_the_best_of_three_runs() -> None:
    for setting, models in documents.THESIS_RUNS.items():
        for model, runs in models.items():
            assert round(max(runs) + 1e-9, 1) == documents.THESIS[setting][model]


def test_documents_are_written_at_an_interval_to_their_end() -> None:
    uniform, cached = documents.jobs()[:2]
    assert (uniform.config.writing, uniform.config.interval, uniform.config.encoded) == ("uniform", 6, None)
    assert uniform.config.slots == 6  # round(0.15 · 44) − 1, and 44 / 7 is about 6
    assert (cached.config.writing, cached.config.interval, cached.config.encoded) == ("cached", 10, None)


def test_memorisation_has_the_sizes_of_the_thesis() -> None:
    lstm, *others = memorisation.jobs()[:6]
    assert (lstm.config.hidden, lstm.thesis, lstm.thesis_parameters) == (125, 15.6, 103_840)
    assert all((job.config.slots, job.config.word, job.config.heads) == (4, 64, 1) for job in others)
    assert (lstm.training.steps, lstm.training.batch_size, lstm.training.clip_norm) == (10_000, 64, 10.0)


def test_unknown_experiments_are_named() -> None:
    with pytest.raises(UserError, match="no experiment is called 'reason': did you mean 'reasoning'"):
        find_experiment("reason")


@pytest.mark.parametrize(
    ("model", "parameters"), [(LSTM, 70_000), (DNC, 98_640), (RW, 98_640), (UW, 98_640), (CUW, 95_920)]
)
def test_parameter_counts(model: Model, parameters: int) -> None:
    """The thesis's 98,840 and 96,120 count 200 weights more that nothing uses, its 103,840 count 33,840."""
    network = build_model(model_config(model, slots=4, length=51), input_size=10, output_size=10)
    assert sum(parameter.numel() for parameter in network.parameters()) == parameters
