"""The back-flow of error, measured on networks whose Jacobians are known, and its bound."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from mnemon import MANN, DNCMemory, MemoryCell, UniformWriting, spectra
from mnemon.controllers import LSTMController
from mnemon.errors import UserError
from mnemon.rnn import Engine
from mnemon.theory import gradients, jacobians
from tests.parts import make_rnn, random_input

several = settings(deadline=None, max_examples=8, derandomize=True)


def elman(recurrent: Tensor, inputs: int = 3, seed: int = 0) -> nn.RNN:
    torch.manual_seed(seed)
    rnn = nn.RNN(inputs, len(recurrent), dtype=torch.float64)
    rnn.load_state_dict(rnn.state_dict() | {"weight_hh_l0": recurrent})
    return rnn


def random_recurrent(size: int, radius: float, seed: int = 0) -> Tensor:
    return spectra.random_matrix(size, radius, torch.Generator().manual_seed(seed))


def hochreiter(rnn: nn.RNN, inputs: Tensor) -> list[float]:
    """Eq. 2.26: from neuron u at the end to neuron v, q steps before, by the recursion over all neurons between."""
    hidden = rnn(inputs)[0].detach()[:, 0].tolist()
    weights = rnn.state_dict()["weight_hh_l0"].tolist()
    units, flow = range(len(weights)), [1.0]
    back = [[float(u == v) for v in units] for u in units]  # ∂h_u(T)/∂h_v(T − q)
    for t in reversed(range(1, len(hidden))):
        slopes = [1 - value**2 for value in hidden[t]]
        back = [[sum(back[u][n] * slopes[n] * weights[n][v] for n in units) for v in units] for u in units]
        flow.append(math.sqrt(sum(value**2 for row in back for value in row) / len(weights)))
    return flow


def test_elman_network_follows_the_recursion() -> None:
    rnn, inputs = elman(random_recurrent(4, 1.1)), random_input(6, 1, 3)
    assert gradients.error_flow(rnn, inputs, batch_axis=1)[:, 0].tolist() == pytest.approx(hochreiter(rnn, inputs))


def test_rows_of_a_batch_are_apart() -> None:
    rnn, inputs = elman(random_recurrent(4, 1.1)), random_input(6, 3, 3)
    whole = gradients.error_flow(rnn, inputs, batch_axis=1)
    for row in range(3):
        assert whole[:, row].tolist() == pytest.approx(hochreiter(rnn, inputs[:, row : row + 1]))


def moved_state(module: nn.Module, inputs: Tensor, at: int, axis: int) -> float:
    """‖∂h_T/∂h_t‖_F/√S of one sequence: each number of the state at t moved up and down in turn."""

    def after(state: Any) -> Tensor:
        for step in torch.split(inputs[at:], 1):
            _, state = module(step, state)
        return jacobians.joined(state, axis)[0]

    with torch.no_grad():
        state: Any = None
        for step in torch.split(inputs[:at], 1):
            _, state = module(step, state)
        slopes = []
        for part in jacobians.state_tensors(state):
            for place in range(part.numel()):
                kept = part.view(-1)[place].item()
                ends = []
                for moved in (kept + 1e-6, kept - 1e-6):
                    part.view(-1)[place] = moved
                    ends.append(after(state))
                part.view(-1)[place] = kept
                slopes.append((ends[0] - ends[1]) / 2e-6)
    return (torch.stack(slopes).square().sum() / len(slopes)).sqrt().item()


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_torch_networks_against_finite_differences(kind: Callable[..., nn.RNNBase]) -> None:
    torch.manual_seed(0)
    rnn, inputs = kind(3, 4, num_layers=2, dtype=torch.float64), random_input(4, 1, 3)
    flow = gradients.error_flow(rnn, inputs, batch_axis=1)[:, 0].tolist()
    assert flow == pytest.approx([1.0, *(moved_state(rnn, inputs, at, 1) for at in (3, 2, 1))], rel=1e-6)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("memory", ["ntm", "dnc", "lrua"])
def test_memory_networks_against_finite_differences(memory: str, engine: Engine) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(3, 1, 4)
    flow = gradients.error_flow(rnn, inputs)[:, 0].tolist()
    assert flow[2] == pytest.approx(moved_state(rnn, inputs, 1, 0), rel=1e-4)


@pytest.mark.usefixtures("unchecked")
def test_a_memory_that_is_left_alone_is_not_counted_twice() -> None:
    """Between writes the memory is handed on as the same tensor, which belongs to the steps before and after."""
    torch.manual_seed(0)
    cell = MemoryCell(LSTMController(3, 2, dtype=torch.float64), DNCMemory(2, 2), writing=UniformWriting(interval=3))
    rnn, inputs = MANN(cell, engine="reference"), random_input(5, 1, 3)
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.normal_(std=0.5)
    flow = gradients.error_flow(rnn, inputs)[:, 0].tolist()
    assert flow[1] == pytest.approx(moved_state(rnn, inputs, 4, 0), rel=1e-4)


@several
@given(st.integers(1, 6), st.floats(0.1, 2.0), st.integers(0, 99))
def test_no_flow_is_above_the_bound(size: int, radius: float, seed: int) -> None:
    rnn, inputs = elman(random_recurrent(size, radius, seed)), random_input(7, 2, 3, seed=seed)
    flow = gradients.error_flow(rnn, inputs, batch_axis=1)
    steepest = gradients.tanh_slope(rnn(inputs)[0])
    bound = gradients.flow_bound(rnn.state_dict()["weight_hh_l0"], 7, steepest)
    assert (flow <= bound[:, None] * (1 + 1e-9)).all()
    assert (bound <= gradients.flow_bound(rnn.state_dict()["weight_hh_l0"], 7) * (1 + 1e-9)).all()
    assert (flow[0] == 1).all()


@pytest.mark.parametrize("radius", [0.5, 1.0, 1.5])
def test_the_bound_is_met_by_a_rotation_that_rests(radius: float) -> None:
    """At h = 0 every slope is 1, and a rotation changes every length alike."""
    recurrent = spectra.orthogonal_matrix(5, radius, torch.Generator().manual_seed(0))
    rnn = nn.RNN(3, 5, bias=False, dtype=torch.float64)
    rnn.load_state_dict({"weight_hh_l0": recurrent, "weight_ih_l0": torch.zeros(5, 3)})
    flow = gradients.error_flow(rnn, torch.zeros(6, 1, 3, dtype=torch.float64), batch_axis=1)[:, 0]
    torch.testing.assert_close(flow, gradients.flow_bound(recurrent, 6))
    assert flow.tolist() == pytest.approx([radius**q for q in range(6)])


def test_an_error_may_vanish_under_a_bound_that_explodes() -> None:
    recurrent = random_recurrent(20, 0.7)
    rnn, inputs = elman(recurrent), random_input(20, 1, 3)
    assert gradients.flow_bound(recurrent, 20)[-1] > 5
    assert gradients.error_flow(rnn, inputs, batch_axis=1)[-1, 0] < 0.01


def test_a_cell_with_open_gates_is_a_constant_error_carousel() -> None:
    """c_t = c_{t−1} + …: with nothing that comes in or goes out, an error of the cell comes back whole."""
    lstm = nn.LSTM(3, 4, dtype=torch.float64)
    weights = {name: torch.zeros_like(weight) for name, weight in lstm.state_dict().items()}
    for gate, value in enumerate((-1e4, 1e4, 0.0, -1e4)):  # i, f, g, o
        weights["bias_ih_l0"][4 * gate : 4 * gate + 4] = value
    lstm.load_state_dict(weights)
    flow = gradients.error_flow(lstm, random_input(30, 1, 3), batch_axis=1)[:, 0]
    assert flow[1:].tolist() == pytest.approx([math.sqrt(0.5)] * 29)  # the cell is half of the state


def test_large_states_are_probed(monkeypatch: pytest.MonkeyPatch) -> None:
    rnn, inputs = elman(random_recurrent(9, 0.9)), random_input(5, 2, 3)
    exact = gradients.error_flow(rnn, inputs, batch_axis=1)
    monkeypatch.setattr(jacobians, "EXACT_UP_TO", 8)
    monkeypatch.setattr(jacobians, "PROBES", 2000)
    probed = gradients.error_flow(rnn, inputs, batch_axis=1, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(probed, exact, rtol=0.1, atol=0)
    assert not torch.allclose(probed[1:], exact[1:], rtol=1e-6)


def test_extremes() -> None:
    rnn = elman(random_recurrent(4, 0.9))
    assert gradients.error_flow(rnn, random_input(1, 1, 3), batch_axis=1).tolist() == [[1.0]]
    saturated = gradients.error_flow(rnn, 1e4 * random_input(5, 2, 3), batch_axis=1)
    assert saturated.isfinite().all()
    assert (saturated[1:] < 1e-6).all()
    assert all(parameter.grad is None for parameter in rnn.parameters())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradients.error_flow(nn.GRU(3, 4), torch.zeros(4, 2, 3), batch_axis=2), "batch_axis must be 0, or 1"),
        (lambda: gradients.error_flow(nn.GRU(3, 4), torch.zeros(4, 2, 3).long(), batch_axis=1), "embed tokens first"),
        (lambda: gradients.flow_bound(torch.eye(2), 0), "distances must be at least 1"),
        (lambda: gradients.flow_bound(torch.eye(2), 3, slope=-1.0), "slope at least 0, got 3 and -1.0"),
    ],
)
def test_bad_input_is_one_line(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(UserError) as raised:
        call()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
