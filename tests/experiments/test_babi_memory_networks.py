"""The jobs of ``babi-memory-networks`` on a few stories."""

from pathlib import Path

import pytest

from mnemon.experiments.babi_memory_networks import MEMNN, jobs
from mnemon.models.catalogue import build_model
from mnemon.runner.parameters import count_parameters
from mnemon.runner.sources import DataTask
from tests.data.tiny_data import write_babi


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("babi")
    write_babi(folder, stories=10)
    return folder


@pytest.mark.usefixtures("unchecked")
def test_every_model_learns_from_stories(folder: Path) -> None:
    opened = {name: DataTask(name=name).open(folder)[0] for name in ("babi-questions", "babi-facts")}
    for job in jobs():
        assert isinstance(job.task, DataTask)
        task = opened[job.task.name]
        counts = count_parameters(build_model(job.config, task.input_size, task.output_size), task, 2, 0)
        assert 0 < counts.effective <= counts.total


def test_only_memnn_is_told_the_facts() -> None:
    for job in jobs():
        told = job.model == MEMNN
        assert job.task == DataTask(name="babi-facts" if told else "babi-questions")
        assert job.training.teacher == (1.0 if told else None)
        assert job.training.steps % job.training.eval_every == 0
    assert [job.config.hops for job in jobs()] == [None, 1, 3, 3, None, None]
