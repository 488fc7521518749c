"""Every experiment of the catalogue can be run: its jobs are whole, distinct, and learn."""

import dataclasses
import json
from typing import Any

import pytest
import torch

from mnemon import MANN
from mnemon.errors import UserError
from mnemon.experiments import babi, documents, memorisation, ntm_tasks, pixel_mnist, reasoning
from mnemon.experiments.catalogue import EXPERIMENTS, find_experiment
from mnemon.experiments.optimal_writing import CUW, DNC, LSTM, NTM, RW, UW, Model, model_config
from mnemon.models.catalogue import build_model
from mnemon.runner.job import Experiment, Job
from mnemon.runner.measurement import Measurement, work_from_json
from mnemon.runner.parameters import count_parameters
from mnemon.runner.sources import DataTask
from mnemon.tasks.sequencing import Sequencing
from mnemon.writing import Access, RandomWriting, Writing

ALL = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.name)
SYNTHETIC = {  # by what they do, as some are in several experiments
    json.dumps(job.to_json()): pytest.param(job, id=f"{experiment.name} {job.setting} {job.model}")
    for experiment in EXPERIMENTS.values()
    for job in experiment.jobs()
    if not isinstance(job.task, DataTask)
}


@ALL
def test_jobs_are_distinct_and_go_through_json(experiment: Experiment) -> None:
    jobs = experiment.work()
    assert len({job.folder for job in jobs}) == len(jobs) > 0
    for job in jobs:
        back = work_from_json(json.loads(json.dumps(job.to_json())))
        if isinstance(job, Measurement):
            assert back == dataclasses.replace(job, readings=())
        else:
            assert isinstance(job, Job)
            assert back == dataclasses.replace(job, thesis=None, thesis_parameters=None, readings=())


@ALL
def test_descriptions_have_every_row(experiment: Experiment) -> None:
    described = experiment.describe(1.0)
    assert len(described.rows) == sum(len(job.rows()) for job in experiment.work()) + len(experiment.literature)
    settings = [row.setting for row in described.rows]
    assert settings == sorted(settings, key=settings.index), "rows of a setting stand together"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("job", SYNTHETIC.values())
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
    regular, uniform, cached = documents.jobs()[:3]
    assert (regular.config.writing, regular.config.interval) == ("regular", None)
    assert (uniform.config.writing, uniform.config.interval, uniform.config.encoded) == ("uniform", 6, None)
    assert uniform.config.slots == 6  # round(0.15 · 44) − 1, and ⌊44 / 7⌋ is 6
    assert (cached.config.writing, cached.config.interval, cached.config.encoded) == ("cached", 10, None)


def test_memorisation_has_the_sizes_of_the_thesis() -> None:
    lstm, *others = memorisation.jobs()[:6]
    assert (lstm.config.hidden, lstm.readings[0].thesis, lstm.thesis_parameters) == (125, 15.6, 103_840)
    assert all((job.config.slots, job.config.word, job.config.heads) == (4, 64, 1) for job in others)
    assert (lstm.training.steps, lstm.training.batch_size, lstm.training.clip_each) == (10_000, 64, 1.0)


def test_what_a_test_chose_stands_beside_the_last_test() -> None:
    best, last = memorisation.jobs()[0].readings
    assert (best.setting, best.chosen_by, best.thesis) == ("copy L=50", "test", 15.6)
    assert (last.setting, last.chosen_by, last.thesis) == ("copy L=50, last test", None, None)
    (documents_best,) = documents.jobs()[0].readings
    assert documents_best.chosen_by == "validation"


def test_pictures_of_chapter_6_are_of_the_runs_of_its_tables() -> None:
    shown = find_experiment("writing-behaviour").jobs()
    tables = [job.to_json() for job in (*memorisation.jobs(), *reasoning.jobs())]
    assert [(job.setting, job.model) for job in shown] == [
        (setting, model) for setting in ("copy L=50", "max L=50") for model in ("DNC", "DNC+UW", "DNC+CUW")
    ]
    assert all(job.trace and job.to_json() in tables for job in shown)


def test_uniform_writing_is_as_printed_and_as_often_as_random_writing() -> None:
    def writing(model: Model, encoded: int | None = None) -> Writing[Any]:
        config = model_config(model, slots=4, length=51, encoded=encoded)
        network = build_model(config, input_size=10, output_size=10)
        assert isinstance(network, MANN)
        return network.cell.writing

    def writes(policy: Writing[Any], steps: int) -> list[int]:
        plan = policy.plan(policy.init_state(1), steps)
        assert isinstance(plan, torch.Tensor)
        return ((plan.flatten() == Access.WRITE).nonzero().flatten() + 1).tolist()

    assert writes(writing(UW), 102) == list(range(10, 102, 10))  # to the end of the answer
    assert writes(writing(CUW), 102) == list(range(5, 102, 5))
    assert writes(writing(UW, encoded=51), 60) == [10, 20, 30, 40, 50, *range(52, 61)]
    drawn = writing(RW)
    assert isinstance(drawn, RandomWriting)
    assert (len(drawn.pattern), drawn.repeats) == (50, True)


def test_unknown_experiments_are_named() -> None:
    with pytest.raises(UserError, match="no experiment is called 'reason': did you mean 'reasoning'"):
        find_experiment("reason")


@pytest.mark.parametrize(
    ("model", "parameters"), [(LSTM, 70_000), (NTM, 99_112), (DNC, 98_640), (RW, 98_640), (UW, 98_640), (CUW, 95_920)]
)
def test_parameter_counts(model: Model, parameters: int) -> None:
    """The thesis's 98,840 and 96,120 count 200 weights more that nothing uses, its 103,840 count 33,840."""
    network = build_model(model_config(model, slots=4, length=51), input_size=10, output_size=10)
    assert sum(parameter.numel() for parameter in network.parameters()) == parameters


NTM_TASKS = [*ntm_tasks.single_jobs(), *ntm_tasks.sequencing_jobs()]


@pytest.mark.parametrize("job", [pytest.param(job, id=f"{job.setting} {job.model}") for job in NTM_TASKS])
def test_sizes_of_chapter_7(job: Job) -> None:
    task, _ = job.open(None)
    network = build_model(job.config, task.input_size, task.output_size)
    assert sum(parameter.numel() for parameter in network.parameters()) == job.thesis_parameters


def test_the_model_of_one_program_is_the_ntm_that_it_stands_beside() -> None:
    job = ntm_tasks.job_with_one_program()
    (ntm,) = (one for one in ntm_tasks.single_jobs() if (one.setting, one.model) == ("A. Recall", "NTM"))
    assert dataclasses.replace(job.config, name="ntm", programs=None, program_key=None) == ntm.config
    assert dataclasses.replace(job.training, auxiliary=None, auxiliary_decay=None) == dataclasses.replace(
        ntm.training, auxiliary=None, auxiliary_decay=None
    )
    assert (job.config.programs, job.thesis, job.thesis_parameters) == (1, None, None)


def test_longer_ngrams_are_trained_as_long_as_they_are_tested() -> None:
    job = ntm_tasks.job_with_longer_ngrams()
    (printed,) = (one for one in ntm_tasks.single_jobs() if (one.setting, one.model) == ("D. N-grams", "NUTM (p=2)"))
    assert job.task == job.tests[job.test] == printed.tests["length 200"] != printed.task
    assert (job.config, job.training) == (printed.config, printed.training)
    assert (job.thesis, [reading.metric for reading in job.readings]) == (None, ["excess_bits"])


def test_omniglot_has_as_many_episodes_where_the_memory_persists() -> None:
    for job in find_experiment("omniglot").jobs():
        episodes = 4 if job.setting.endswith("persistent") else 1
        assert job.training.steps * job.training.batch_size * episodes == 100_000


def test_tables_of_chapter_7() -> None:
    rows = {(row.setting, row.model): row for row in find_experiment("ntm-single").describe(1.0).rows}
    assert rows["Repeat Copy", "NUTM (p=2)"].thesis == 366.69
    assert rows["D. N-grams, bits", "NTM"].metric == "cross_entropy_bits"
    assert rows["D. N-grams, fewest bits possible", "NTM"].metric == "floor_bits"
    above = rows["D. N-grams as long as trained, bits above the fewest", "NTM"]
    assert (above.metric, above.test) == ("excess_bits", "length 50")
    rows = {(row.setting, row.model): row for row in find_experiment("omniglot").describe(1.0).rows}
    assert rows["10 classes, persistent, 5th", "NUTM (LRUA)"].thesis == 82.7
    assert rows["5 classes, persistent, 3rd", "Human*"].thesis == 70.1
    assert len(rows) == 8 * 3 + 3 + 5 + 2
    rows = {(row.setting, row.model): row for row in find_experiment("babi").describe(1.0).rows}
    assert rows["17: positional reasoning", babi.P4].thesis == 18.4
    assert (rows["tasks failed", babi.P4].thesis, rows["tasks failed", babi.P4].percent) == (3.0, False)
    assert rows["mean", "ADNC"].thesis == 6.3


def test_the_models_of_babi_have_the_parameters_of_the_thesis() -> None:
    for name, config in babi.MODELS.items():
        model = build_model(config, 159, 159)
        assert sum(part.numel() for part in model.parameters()) == babi.PARAMETERS[name]


def test_the_thesis_means_of_babi() -> None:
    best, mean, _ = (sum(column) / 20 for column in zip(*babi.THESIS_BY_TASK.values(), strict=True))
    assert (best, mean) == pytest.approx(babi.THESIS_MEAN_ERROR[:2], abs=0.051)  # of rounded numbers
    assert babi.THESIS[babi.P4] == babi.THESIS_MEAN_ERROR[1:]


def test_continual_tests_all_four_after_each() -> None:
    ntm, nutm = find_experiment("continual").jobs()
    assert (ntm.training.steps, ntm.training.eval_every, ntm.training.batch_size) == (80_000, 20_000, 16)
    assert (nutm.config.controller, nutm.config.program_choice, nutm.config.programs) == ("feed-forward", "gumbel", 4)
    assert [reading.at for reading in ntm.readings] == [share for share in (0.25, 0.5, 0.75, 1.0) for _ in range(4)]
    short = ntm.for_run(0, 0.01).training
    assert (short.steps, short.eval_every) == (800, 200)


@pytest.mark.parametrize("name", ["programs", "state-clusters"])
def test_pictures_of_chapter_7_are_of_the_runs_of_its_tables(name: str) -> None:
    trained = {job.folder: job.to_json() for job in NTM_TASKS}
    jobs = find_experiment(name).jobs()
    assert all(trained[job.folder] == job.to_json() for job in jobs)
    assert all(job.trace for job in jobs)


def test_pictures_of_chapter_7() -> None:
    programs = [(job.setting, job.model) for job in find_experiment("programs").jobs()]
    assert programs[:6] == [(setting, "NUTM (p=2)") for setting in ntm_tasks.SINGLE]
    assert [model for _, model in programs[6:]] == ["NTM", "NUTM (p=3)"] * 3 + ["NTM", "NUTM (p=4)"]
    clusters = find_experiment("state-clusters").describe(1.0)
    assert clusters.shows == "states"
    rows = [(row.setting, clusters.metric_of(row), row.traced) for row in clusters.rows if row.model == "NTM"]
    assert rows[:3] == [
        ("Copy", "silhouette", True),
        ("Copy, untrained", "silhouette_untrained", True),
        ("Copy, bit accuracy", "bit_accuracy", False),
    ]
    assert [setting for setting, metric, _ in rows if metric == "silhouette"] == ["Copy", "Repeat Copy", "C+RC"]


def test_perseveration_is_measured_by_the_task() -> None:
    for job in find_experiment("programs").jobs():
        if isinstance(job.task, Sequencing):
            batch = job.task.sample(1, torch.Generator().manual_seed(0))
            measured = job.task.metrics(batch.targets, batch)
            assert [reading.metric for reading in job.readings] == [None, *list(measured)[2:]]
            assert len(job.readings) == 1 + len(job.task.parts)


def test_programs_bring_their_loss() -> None:
    for job in (*NTM_TASKS, *find_experiment("omniglot").jobs(), *find_experiment("babi").jobs()):
        assert (job.training.auxiliary == 0.1) == job.config.name.startswith("nutm")
