from typing import Any

import pytest
import torch

from mnemon import (
    MANN,
    CachedUniformWriting,
    RandomWriting,
    RegularWriting,
    StoredProgramInterface,
    UniformWriting,
    UserError,
)
from mnemon.experiments import ntm_sequencing, ntm_single
from mnemon.models.baseline import LSTMBaseline, matching_hidden_size
from mnemon.models.catalogue import MODELS, build_model
from mnemon.models.config import CONTROLLERS, ModelConfig
from mnemon.rnn import Engine
from mnemon.tasks.catalogue import TASKS
from mnemon.writing import Writing


def parameters(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("task", ntm_single.NTM)
def test_single_tasks_have_the_thesis_parameter_counts(task: str) -> None:
    sizes = TASKS[task].train.input_size, TASKS[task].train.output_size
    assert parameters(build_model(ntm_single.NTM[task], *sizes)) == ntm_single.NTM_PARAMETERS[task]
    assert parameters(build_model(ntm_single.NUTM[task], *sizes)) == ntm_single.NUTM_PARAMETERS[task]


@pytest.mark.parametrize(("tasks", "sizes"), ntm_sequencing.CHANNELS.items())
def test_sequencing_tasks_have_the_thesis_parameter_counts(tasks: str, sizes: tuple[int, int]) -> None:
    assert parameters(build_model(ntm_sequencing.NTM[tasks], *sizes)) == ntm_sequencing.NTM_PARAMETERS[tasks]
    assert parameters(build_model(ntm_sequencing.NUTM[tasks], *sizes)) == ntm_sequencing.NUTM_PARAMETERS[tasks]


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if not entry.reads_views])
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_every_model_runs_with_every_controller(name: str, controller: str) -> None:
    config = ModelConfig(name=name, controller=controller, hidden=8, slots=5, word=3, heads=2)
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
    endless = policy(writing="random", interval=10)
    assert isinstance(endless, RandomWriting)
    assert (len(endless.pattern), endless.repeats) == (50, True)
    for bad, message in (
        ({"writing": "uniform"}, "needs an interval, or slots and length"),
        ({"writing": "cached"}, "cached writing needs an interval"),
        ({"writing": "random"}, "random writing needs an average interval"),
        ({"writing": "irregular"}, "no writing is called 'irregular'"),
        ({"name": "lstm", "writing": "uniform", "interval": 2}, "has no memory to write"),
    ):
        with pytest.raises(UserError, match=message):
            ModelConfig(**{"name": "dnc", **bad})  # type: ignore[arg-type]


def test_programs_by_name() -> None:
    def interface(**settings: Any) -> StoredProgramInterface:
        model = build_model(ModelConfig(hidden=5, slots=4, word=3, **settings), input_size=3, output_size=2)
        assert isinstance(model, MANN)
        assert isinstance(model.cell.interface, StoredProgramInterface)
        return model.cell.interface

    assert interface(name="nutm").keys.vectors.shape == (2, 2, 2)  # a store for each head
    assert interface(name="nutm", heads=3, programs=4, program_key=5).keys.vectors.shape == (6, 4, 5)
    assert interface(name="nutm-dnc", heads=3, programs=3).keys.vectors.shape == (2, 3, 3)  # readers and the writer
    assert interface(name="nutm-lrua", heads=3).keys.vectors.shape == (3, 2, 2)
    for bad, message in (
        ({"name": "dnc", "learned_start": "memory"}, "'dnc' with learned_start='memory': leave it out"),
        ({"learned_start": "heads"}, "'ntm' with learned_start='heads': .* one of controller, memory"),
        ({"name": "ntm", "programs": 2}, "model 'ntm' stores no programs: leave out programs"),
        ({"name": "ntm", "feedback": False}, "model 'ntm' cannot choose what it is fed: leave out feedback"),
        ({"name": "lstm", "program_key": 2}, "model 'lstm' stores no programs: leave out program_key"),
        ({"name": "nutm", "programs": 0}, "programs must be at least 1, got 0"),
    ):
        with pytest.raises(UserError, match=message):
            ModelConfig(**bad)


@pytest.mark.parametrize("core", ["nutm", "nutm-dnc", "nutm-lrua"])
@pytest.mark.parametrize("writing", ["uniform", "cached", "random"])
def test_programs_go_with_every_writing_policy(core: str, writing: str) -> None:
    torch.manual_seed(0)
    config = ModelConfig(name=core, hidden=5, slots=4, word=3, writing=writing, interval=3, encoded=7)
    model = build_model(config, input_size=3, output_size=2)
    inputs = torch.randn(9, 2, 3)
    output, _ = model(inputs)
    first, state = model(inputs[:4])
    second, _ = model(inputs[4:], state)
    torch.testing.assert_close(torch.cat([first, second]), output)
    output.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in model.parameters())
