"""Echo state networks and liquid state machines: against loops, and as reservoirs."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon.errors import UserError
from mnemon.reservoir import EchoState, EchoStateNetwork, LiquidStateMachine, Reservoir, ReservoirConfig
from mnemon.spectra import spectral_radius
from mnemon.theory import error_flow, flow_bound
from tests.parts import random_input

CONFIG = ReservoirConfig(units=20, radius=0.9, density=0.3, input_scale=0.7, seed=3)
KINDS: dict[str, Callable[..., Reservoir[Any]]] = {"echo state": EchoStateNetwork, "liquid state": LiquidStateMachine}
kinds = pytest.mark.parametrize("kind", KINDS)


def make(kind: str, inputs: int = 3, config: ReservoirConfig = CONFIG) -> Reservoir[Any]:
    return KINDS[kind](inputs, config, dtype=torch.float64)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("leak", [1.0, 0.3])
def test_echo_state_network_unit_by_unit(leak: float, linear: bool) -> None:
    network = EchoStateNetwork(3, CONFIG, leak=leak, linear=linear, dtype=torch.float64)
    inputs = random_input(4, 2, 3)
    states, last = network(inputs)
    for b in range(2):
        state = [0.0] * 20
        for t in range(4):
            after = []
            for n in range(20):
                net = sum(network.weight_hh[n, m].item() * state[m] for m in range(20))
                net += sum(network.weight_ih[n, i].item() * inputs[t, b, i].item() for i in range(3))
                squashed = net if linear else torch.tanh(torch.tensor(net, dtype=torch.float64)).item()
                after.append((1 - leak) * state[n] + leak * squashed)
            state = after
            assert states[t, b].tolist() == pytest.approx(state)
    assert torch.equal(last.hidden, states[-1])


def test_liquid_state_machine_neuron_by_neuron() -> None:
    machine = LiquidStateMachine(3, CONFIG, membrane=0.8, trace=0.6, dtype=torch.float64)
    inputs = 2 * random_input(12, 1, 3)
    liquid, last = machine(inputs)
    potential, spikes, trace = [0.0] * 20, [0.0] * 20, [0.0] * 20
    fired = 0.0
    for t in range(12):
        before = list(spikes)
        for n in range(20):
            potential[n] = 0.0 if before[n] else 0.8 * potential[n]
            potential[n] += sum(machine.weight_hh[n, m].item() * before[m] for m in range(20))
            potential[n] += sum(machine.weight_ih[n, i].item() * inputs[t, 0, i].item() for i in range(3))
            spikes[n] = float(potential[n] >= 1)
            trace[n] = 0.6 * trace[n] + 0.4 * spikes[n]
        fired += sum(spikes)
        assert liquid[t, 0].tolist() == pytest.approx(trace)
    assert last.potential[0].tolist() == pytest.approx(potential)
    assert 10 < fired < 200  # neither silent nor always on


def test_neurons_excite_or_inhibit() -> None:
    weights = LiquidStateMachine(1, CONFIG, dtype=torch.float64).weight_hh
    assert (weights[:, :16] >= 0).all()
    assert (weights[:, 16:] <= 0).all()
    assert (weights[:, 16:] < 0).any()


@kinds
def test_weights_are_as_asked_and_from_the_seed_alone(kind: str) -> None:
    torch.manual_seed(1)
    network = make(kind)
    torch.manual_seed(2)
    again, other = make(kind), make(kind, config=ReservoirConfig(units=20, seed=4))
    assert spectral_radius(network.weight_hh) == pytest.approx(0.9)
    assert 0.2 < (network.weight_hh != 0).double().mean() < 0.4
    assert network.weight_ih.abs().max() <= 0.7
    assert torch.equal(network.weight_hh, again.weight_hh)
    assert torch.equal(network.weight_ih, again.weight_ih)
    assert not torch.equal(network.weight_hh, other.weight_hh)
    assert not list(network.parameters())


@kinds
def test_a_sequence_in_two_parts_is_the_whole_one(kind: str) -> None:
    network, inputs = make(kind), random_input(9, 2, 3)
    whole, last = network(inputs)
    first, state = network(inputs[:4])
    second, end = network(inputs[4:], state)
    assert torch.equal(torch.cat([first, second]), whole)
    assert all(torch.equal(left, right) for left, right in zip(end, last, strict=True))


@kinds
def test_copies_and_state_dicts_carry_the_weights(kind: str) -> None:
    network, inputs = make(kind), random_input(5, 1, 3)
    other = make(kind, config=ReservoirConfig(units=20, radius=0.9, density=0.3, input_scale=0.7, seed=8))
    assert not torch.equal(other(inputs)[0], network(inputs)[0])
    other.load_state_dict(network.state_dict())
    for twin in (other, copy.deepcopy(network)):
        assert torch.equal(twin(inputs)[0], network(inputs)[0])


def distance_after(network: EchoStateNetwork, inputs: Tensor) -> tuple[float, float]:
    """Between the states of two networks that began apart and saw the same: at first and at last."""
    ends = [network(inputs, EchoState(random_input(1, 20, seed=seed)))[1].hidden for seed in (5, 6)]
    begins = [random_input(1, 20, seed=seed) for seed in (5, 6)]
    return (begins[0] - begins[1]).norm().item(), (ends[0] - ends[1]).norm().item()


@pytest.mark.parametrize("leak", [1.0, 0.5])
@pytest.mark.parametrize("radius", [0.0, 0.5, 0.9])
def test_echo_state_property(radius: float, leak: float) -> None:
    config = ReservoirConfig(units=20, radius=radius, density=0.3)
    network = EchoStateNetwork(3, config, leak=leak, dtype=torch.float64)
    first, last = distance_after(network, random_input(300, 1, 3))
    assert first > 1
    assert last < 1e-9


def test_no_echo_state_property_where_traces_grow() -> None:
    config = ReservoirConfig(units=20, radius=3.0, density=0.3)
    network = EchoStateNetwork(3, config, dtype=torch.float64)
    assert distance_after(network, torch.zeros(300, 1, 3, dtype=torch.float64))[1] > 0.1


def test_a_liquid_tells_inputs_apart_and_then_forgets() -> None:
    """Separation: what differs in one step shows later, and less and less."""
    config = ReservoirConfig(units=100, radius=0.5, density=0.2, input_scale=2.0)
    machine = LiquidStateMachine(1, config, dtype=torch.float64)
    left, right = torch.zeros(120, 1, 1).double(), torch.zeros(120, 1, 1).double()
    left[:5], right[:5] = 1.0, -1.0
    apart = (machine(left)[0] - machine(right)[0]).square().sum((1, 2)).sqrt()
    assert apart[8] > 0.5
    assert apart[-1] < 1e-6


def test_flow_of_error_through_a_reservoir() -> None:
    network = make("echo state")
    flow = error_flow(network, random_input(6, 1, 3))
    assert (flow[:, 0] <= flow_bound(network.weight_hh, 6) * (1 + 1e-9)).all()
    assert (flow > 0).all()


@pytest.mark.usefixtures("unchecked")
def test_gradients_of_an_echo_state_network_go_to_inputs_and_state() -> None:
    network = EchoStateNetwork(2, ReservoirConfig(units=4, density=1.0), leak=0.6, dtype=torch.float64)
    inputs, begin = random_input(3, 2, 2).requires_grad_(), random_input(2, 4, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda given, state: network(given, EchoState(state))[0], (inputs, begin))


@kinds
def test_extremes(kind: str) -> None:
    small = make(kind, inputs=1, config=ReservoirConfig(units=1, density=1.0))
    assert small(torch.zeros(1, 1, 1, dtype=torch.float64))[0].shape == (1, 1, 1)
    states, _ = make(kind)(1e4 * random_input(5, 2, 3))
    assert states.isfinite().all()
    assert (states.abs() <= 1).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ReservoirConfig(units=0), "units must be at least 1, got 0"),
        (lambda: ReservoirConfig(units=3, radius=-1.0), "radius must be finite and at least 0, got -1.0"),
        (lambda: ReservoirConfig(units=3, density=1.1), "density must be above 0 and at most 1, got 1.1"),
        (lambda: ReservoirConfig(units=3, input_scale=-1.0), "input_scale must be finite and at least 0"),
        (lambda: EchoStateNetwork(0, CONFIG), "input_size must be at least 1, got 0"),
        (lambda: EchoStateNetwork(1, CONFIG, leak=0.0), "leak must be above 0 and at most 1, got 0.0"),
        (lambda: EchoStateNetwork(1, ReservoirConfig(units=2, density=1e-9)), "take more units, or a higher density"),
        (lambda: LiquidStateMachine(1, CONFIG, membrane=1.0), "membrane must be at least 0 and below 1, got 1.0"),
        (lambda: LiquidStateMachine(1, CONFIG, trace=-0.1), "trace must be at least 0 and below 1, got -0.1"),
        (lambda: EchoStateNetwork(2, CONFIG)(torch.zeros(4, 1, 3)), r"of shape \(T, B, 2\) with T at least 1, got"),
        (lambda: EchoStateNetwork(2, CONFIG)(torch.zeros(0, 1, 2)), r"with T at least 1, got \(0, 1, 2\)"),
    ],
)
def test_bad_settings_say_what_to_write(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()
