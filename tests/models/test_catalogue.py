from typing import Any

import pytest
import torch

from mnemon import (
    MANN,
    CachedUniformWriting,
    RandomWriting,
    RegularWriting,
    UniformWriting,
    UserError,
)
from mnemon.experiments.ntm_single import NTM, NTM_PARAMETERS
from mnemon.models.baseline import LSTMBaseline, matching_hidden_size
from mnemon.models.catalogue import CONTROLLERS, MODELS, ModelConfig, build_model
from mnemon.rnn import Engine
from mnemon.tasks.catalogue import TASKS
from mnemon.writing import Writing


def parameters(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("task", NTM_PARAMETERS)
def test_ntm_has_the_thesis_parameter_count(task: str) -> None:
    train = TASKS[task].train
    assert parameters(build_model(NTM[task], train.input_size, train.output_size)) == NTM_PARAMETERS[task]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_model_runs_with_every_controller(name: str, controller: str) -> None:
    config = ModelConfig(name=name, controller=controller, hidden=7, slots=5, word=3, heads=2)
    model = build_model(config, input_size=4, output_size=2)
    output, _ = model(torch.randn(6, 3, 4))
    assert output.shape == (6, 3, 2)
    output.sum().backward()
    unused = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert not unused


def test_unknown_names_say_what_to_write() -> None:
    with pytest.raises(UserError, match=r"no model is called 'ntn': did you mean 'ntm'\? write one of ntm, dnc"):
        ModelConfig(name="ntn")
    with pytest.raises(UserError, match="no controller is called 'cnn'"):
        ModelConfig(controller="cnn")
    with pytest.raises(UserError, match="slots must be at least 1, got 0"):
        ModelConfig(slots=0)


def test_listed_files_exist(request: pytest.FixtureRequest) -> None:
    for entry in MODELS.values():
        assert (request.config.rootpath / entry.file).exists()


@pytest.mark.parametrize(("inputs", "outputs"), [(10, 8), (1, 1)])
def test_matching_hidden_size_is_the_smallest(inputs: int, outputs: int) -> None:
    hidden = matching_hidden_size(5_000, inputs, outputs)
    assert parameters(LSTMBaseline(inputs, hidden, outputs)) >= 5_000
    assert parameters(LSTMBaseline(inputs, hidden - 1, outputs)) < 5_000


def test_baseline_with_lengths_equals_rows_alone() -> None:
    model = LSTMBaseline(3, 5, 2)
    inputs = torch.randn(6, 2, 3)
    output, (hidden, _) = model(inputs, lengths=torch.tensor([6, 4]))
    alone, (hidden_alone, _) = model(inputs[:4, 1:])
    torch.testing.assert_close(output[:4, 1:], alone)
    torch.testing.assert_close(hidden[:, 1:], hidden_alone)
    assert not output[4:, 1].any()


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_controller_alone_is_the_network_of_torch(engine: Engine) -> None:
    torch.manual_seed(0)
    model = build_model(ModelConfig(name="no-memory", controller="lstm", hidden=5), input_size=3, output_size=2)
    assert isinstance(model, MANN)
    model.engine = engine
    twin = LSTMBaseline(3, 5, 2)
    with torch.no_grad():
        for name, weight in model.cell.controller.named_parameters():
            getattr(twin.rnn, f"{name}_l0").copy_(weight)
        assert model.cell.readout_weight is not None
        assert model.cell.readout_bias is not None
        twin.readout.weight.copy_(model.cell.readout_weight)
        twin.readout.bias.copy_(model.cell.readout_bias)
    inputs, lengths = torch.randn(6, 2, 3), torch.tensor([6, 4])
    output, state = model(inputs, lengths=lengths)
    expected, (hidden, cell) = twin(inputs, lengths=lengths)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(state.controller.hidden, hidden[0])
    torch.testing.assert_close(state.controller.cell, cell[0])


def test_writing_policies_by_name() -> None:
    def policy(**settings: Any) -> Writing[Any]:
        model = build_model(ModelConfig(name="dnc", slots=4, **settings), input_size=3, output_size=2)
        assert isinstance(model, MANN)
        return model.cell.writing

    assert isinstance(policy(), RegularWriting)
    assert isinstance(policy(writing="uniform", interval=3), UniformWriting)
    balanced = policy(writing="uniform", encoded=50)
    assert isinstance(balanced, UniformWriting)
    assert balanced.pattern.nonzero().flatten().tolist() == [9, 19, 29, 39]
    assert isinstance(policy(writing="cached", interval=5, encoded=50), CachedUniformWriting)
    assert isinstance(policy(writing="random", encoded=50), RandomWriting)
    for bad, message in (
        ({"writing": "uniform"}, "needs an interval, or slots and length"),
        ({"writing": "cached"}, "cached writing needs an interval"),
        ({"writing": "random"}, "random writing needs the steps"),
        ({"writing": "irregular"}, "no writing is called 'irregular'"),
        ({"name": "lstm", "writing": "uniform", "interval": 2}, "has no memory to write"),
    ):
        with pytest.raises(UserError, match=message):
            ModelConfig(**{"name": "dnc", **bad})  # type: ignore[arg-type]
