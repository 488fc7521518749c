"""The experiments on dialogue: equal sizes, whole runs on a few conversations, and what a report shows of them."""

import dataclasses
import json
from pathlib import Path

import jaxtyping
import pytest

from mnemon.experiments.dialogue import COMPARED, DIALOGUE, DIALOGUE_SAMPLES, jobs, sizes
from mnemon.models.catalogue import MODELS, build_model
from mnemon.report.page import write_pages
from mnemon.report.results import read_results
from mnemon.report.samples import exchanges
from mnemon.report.tables import as_text
from mnemon.runner.campaign import Campaign
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.dialogue_sets import WORDS
from mnemon.tasks.wording import SPECIAL
from mnemon.views import ViewSizes
from tests.data.tiny_talk import write_chit_chat
from tests.runner.tiny_campaign import run_in_this_process


def test_all_models_have_as_many_parameters() -> None:
    tokens = WORDS + len(SPECIAL)
    counts = []
    for model in COMPARED.values():
        network = build_model(sizes(*model), ViewSizes((tokens,), "sequence"), tokens)
        counts.append(sum(parameter.numel() for parameter in network.parameters()))
    assert max(counts) / min(counts) < 1.01
    assert 1.59e6 < min(counts) < 1.61e6


def test_variational_models_bring_their_divergence() -> None:
    for job in jobs():
        variational = MODELS[job.config.name].is_variational
        assert (job.training.auxiliary == 1.0) == variational
        assert any(reading.metric == "kl" for reading in job.readings) == variational
        assert job.training.teacher == 1.0
        assert job.for_run(0, 0.1).training.auxiliary_warmup == (150 if variational else None)


def test_the_samples_are_of_the_runs_of_the_table() -> None:
    assert [job.to_json() for job in DIALOGUE_SAMPLES.jobs()] == [job.to_json() for job in jobs()]
    assert len(jobs()) == 18


def small(job: Job) -> Job:
    config = dataclasses.replace(job.config, hidden=4, slots=2, word=4, embedding=2)
    training = dataclasses.replace(job.training, steps=2, batch_size=2, eval_every=2, log_every=1)
    return dataclasses.replace(job, config=config, training=training)


def cut(experiment: Experiment) -> Experiment:
    """Its jobs on the first set, in a fraction of their size."""
    kept = [small(job) for job in experiment.jobs() if job.setting == "Chit-Chat"]
    return dataclasses.replace(experiment, jobs=lambda: kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dialogue")
    write_chit_chat(root / "data")
    jaxtyping.config.update("jaxtyping_disable", True)  # shapes are checked elsewhere, and here take most of the time
    run_in_this_process(cut(DIALOGUE), root / "out" / "dialogue", data=root / "data")
    jaxtyping.config.update("jaxtyping_disable", False)
    return root


def test_every_model_trains_and_is_read(folder: Path) -> None:
    results = read_results(folder / "out" / "dialogue")
    assert {row.described.model for row in results.rows} == set(COMPARED)
    assert all(len(row.values) == 1 for row in results.rows)
    for row in results.rows:
        assert row.runs[0].effective <= row.runs[0].total
    kl = {row.described.model: row.mean for row in results.rows if row.described.metric == "kl"}
    assert set(kl) == {"CVAE", "VLSTM", "VMED (K=1)", "VMED (K=2)", "VMED (K=3)", "VMED (K=4)"}
    assert all(mean is not None and mean >= 0 for mean in kl.values())


def test_a_report_shows_what_was_said(folder: Path) -> None:
    samples = folder / "out" / "dialogue-samples"
    experiment = cut(DIALOGUE_SAMPLES)
    campaign = Campaign(experiment, samples, seeds=1, scale=1.0, data=folder / "data")
    campaign.folder.mkdir()
    campaign.description.write(samples)
    for run in campaign.runs:
        run.folder.mkdir(parents=True)
        source = folder / "out" / "dialogue" / run.folder.relative_to(samples)
        for path in source.iterdir():
            if path.is_file():
                (run.folder / path.name).write_bytes(path.read_bytes())
    results = read_results(samples)
    (shown,) = exchanges(results).values()
    assert list(shown[0].said) == ["people", *COMPARED]
    assert all(said.count(" /*/ ") == 2 for exchange in shown for who, said in exchange.said.items() if who != "people")
    write_pages([results], folder / "page.html")
    page, text = (folder / "page.html").read_text(), (folder / "page.md").read_text()
    assert "said in return" in page
    assert f"| {as_text(shown[0].context)} | people | {as_text(shown[0].said['people'])} |" in text
    assert "VMED (K=4)" in page
    table = read_results(folder / "out" / "dialogue")
    write_pages([table], folder / "table.html")
    assert "said in return" not in (folder / "table.html").read_text()


def test_answers_are_texts_of_the_first_contexts(folder: Path) -> None:
    (path,) = (folder / "out/dialogue/jobs/chit-chat/vmed-k-3").glob("*/traces.json")
    samples = json.loads(path.read_text())["samples"]
    assert 0 < len(samples) <= 8
    assert all(set(sample) == {"context", "response", "answers"} for sample in samples)
    assert all(len(sample["answers"]) == 3 for sample in samples)
    assert not (path.parent / "task.json").exists() or (path.parent / "checkpoints").exists()
