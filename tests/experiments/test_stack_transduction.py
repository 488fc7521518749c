"""Stack transduction is fair: models of a size, tested at and beyond the lengths they learn."""

import pytest

from mnemon.experiments import stack_transduction
from mnemon.experiments.catalogue import find_experiment
from mnemon.models.catalogue import build_model
from mnemon.tasks import Brackets, Reverse


@pytest.mark.parametrize("setting", stack_transduction.SETTINGS)
def test_models_have_about_as_many_parameters(setting: str) -> None:
    counts = {}
    for job in find_experiment("stack-transduction").jobs():
        if job.setting == setting:
            task, _ = job.open(None)
            model = build_model(job.config, task.input_size, task.output_size)
            counts[job.model] = sum(parameter.numel() for parameter in model.parameters())
    assert counts.pop("LSTM, 64 units") > 10 * max(counts.values())
    assert max(counts.values()) < 1.11 * min(counts.values())


def test_tests_are_twice_as_long() -> None:
    reversal, *_, brackets = find_experiment("stack-transduction").jobs()
    assert reversal.task == Reverse(length=8, min_length=1)
    assert reversal.tests["length 16"] == Reverse(length=16, min_length=16)
    assert brackets.task == Brackets(min_pairs=1, max_pairs=8)
    assert brackets.tests["length 16"] == Brackets(min_pairs=16, max_pairs=16)
    rows = [(row.setting, row.test) for row in reversal.rows()]
    assert rows == [("reversal, length 8", "length 8"), ("reversal, length 16", "length 16")]
