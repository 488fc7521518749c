"""The comparison is on equal terms: what each model carries from step to step."""

import pytest
import torch
from torch.nn import MultiheadAttention

from mnemon.controllers import LSTMState
from mnemon.experiments.multi_query_recall import (
    LONGEST,
    STATE_BYTES,
    TRAINING,
    cache_bytes,
    jobs,
    models,
    state_bytes,
)
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.state import size_in_bytes
from mnemon.tasks.catalogue import TASKS


@pytest.mark.parametrize("name", [name for name in models() if name != "Transformer"])
def test_state_is_equally_large(name: str) -> None:
    task = TASKS["multi-query-recall"].train
    assert isinstance(task.input_size, int)
    assert state_bytes(models()[name], task.input_size) == pytest.approx(STATE_BYTES, rel=0.02)


def test_the_cache_of_the_transformer_is_larger_as_the_page_says() -> None:
    transformer = build_model(models()["Transformer"], 4, 2)
    attentions = [module for module in transformer.modules() if isinstance(module, MultiheadAttention)]
    numbers = sum(2 * attention.embed_dim for attention in attentions)
    assert cache_bytes(models()["Transformer"], LONGEST) == 4 * numbers * LONGEST
    assert cache_bytes(models()["Transformer"], LONGEST) / STATE_BYTES == pytest.approx(6, abs=0.1)
    assert cache_bytes(models()["Transformer"], 3 * 16) / STATE_BYTES == pytest.approx(12, abs=0.2)


def test_bytes_of_a_state() -> None:
    state = LSTMState(torch.zeros(1, 3), torch.zeros(1, 3, dtype=torch.float64))
    assert size_in_bytes(state) == 12 + 24
    assert size_in_bytes((state, (torch.zeros(2, dtype=torch.int64), ()))) == 52


def test_a_recurrent_controller_counts() -> None:
    recurrent = ModelConfig(name="deltanet", hidden=5, slots=3, word=2)
    feed_forward = ModelConfig(name="deltanet", controller="feed-forward", hidden=5, slots=3, word=2)
    assert state_bytes(feed_forward, 4) == 4 * (3 * 2 + 2)
    assert state_bytes(recurrent, 4) == 4 * (3 * 2 + 2 + 2 * 5)


def test_all_have_the_same_training_and_the_dnc_a_slot_for_each_pair() -> None:
    for job in jobs():
        assert (job.training.steps, job.training.learning_rate) == (TRAINING.steps, TRAINING.learning_rate)
        assert job.tests == TASKS["multi-query-recall"].tests
    assert models()["DNC"].slots == 8
    assert [reading.setting for reading in jobs()[0].readings] == [f"{pairs} pairs" for pairs in (2, 4, 8, 12, 16)]
