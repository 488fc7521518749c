"""Contributions against matrix products and finite differences written out; λ against profiles that are known."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.rnn import Engine
from mnemon.theory import contribution as theory
from mnemon.theory import jacobians, sizing
from tests.parts import make_rnn, random_input

several = settings(deadline=None, max_examples=60, derandomize=True)
positive = st.floats(1e-6, 1e6)


class Linear(nn.Module):
    """h_t = W x_t + U h_{t−1}: the linear dynamic system of the appendix."""

    def __init__(self, inputs: int = 3, hidden: int = 4, seed: int = 0) -> None:
        super().__init__()
        self.enter = random_input(hidden, inputs, seed=seed)  # W
        self.recur = 0.4 * random_input(hidden, hidden, seed=seed + 1)  # U

    def forward(self, inputs: Tensor) -> Tensor:
        state = inputs.new_zeros(inputs.shape[1], self.recur.shape[0])
        states = []
        for step in inputs:
            state = step @ self.enter.T + state @ self.recur.T
            states.append(state)
        return torch.stack(states)


def finite_differences(module: nn.Module, inputs: Tensor, observe: theory.Observe, step: float = 1e-5) -> Tensor:
    """‖∂h_T/∂x_t‖, one input number moved at a time."""
    squares = torch.zeros(inputs.shape[:2], dtype=torch.float64)
    for t in range(inputs.shape[0]):
        for b in range(inputs.shape[1]):
            for i in range(inputs.shape[2]):
                up, down = inputs.clone(), inputs.clone()
                up[t, b, i] += step
                down[t, b, i] -= step
                with torch.no_grad():
                    slope = (observe(module, up)[b] - observe(module, down)[b]) / (2 * step)
                squares[t, b] += slope.square().sum()
    return squares.sqrt()


def torch_rnn(kind: type[nn.RNNBase], layers: int = 1) -> nn.RNNBase:
    torch.manual_seed(0)
    make: Callable[..., nn.RNNBase] = kind  # unlike their base class, the kinds take no mode
    return make(3, 4, num_layers=layers, dtype=torch.float64)


def test_linear_system_is_powers_of_its_matrix() -> None:
    module, inputs = Linear(), random_input(6, 2, 3)
    power, expected = module.enter, []
    for _ in range(6):
        expected.append(power.square().sum().sqrt().item())
        power = module.recur @ power
    measured = theory.contributions(module, inputs)
    for row in measured.T:
        assert row.tolist() == pytest.approx(expected[::-1], rel=1e-12)


def test_tanh_network_is_a_product_of_jacobians() -> None:
    rnn, inputs = torch_rnn(nn.RNN), random_input(5, 1, 3)
    weights = {name: weight.detach() for name, weight in rnn.named_parameters()}
    hidden = rnn(inputs)[0].detach()[:, 0]
    expected = []
    for t in range(5):
        jacobian = (1 - hidden[t] ** 2).diag() @ weights["weight_ih_l0"]
        for j in range(t + 1, 5):
            jacobian = (1 - hidden[j] ** 2).diag() @ weights["weight_hh_l0"] @ jacobian
        expected.append(jacobian.square().sum().sqrt().item())
    assert theory.contributions(rnn, inputs)[:, 0].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("observe", [theory.last_output, theory.outputs_after(2), theory.torch_state])
def test_torch_networks_against_finite_differences(kind: type[nn.RNNBase], observe: theory.Observe) -> None:
    rnn, inputs = torch_rnn(kind, layers=2), random_input(4, 2, 3)
    expected = finite_differences(rnn, inputs, observe)
    torch.testing.assert_close(theory.contributions(rnn, inputs, observe=observe), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("memory", ["ntm", "dnc", "dnc-no-links", "lrua"])
@pytest.mark.parametrize("observe", [theory.last_output, theory.outputs_after(1), theory.whole_state])
def test_memory_networks_against_finite_differences(memory: str, engine: Engine, observe: theory.Observe) -> None:
    rnn, inputs = make_rnn(memory, engine=engine), random_input(3, 2, 4)
    expected = finite_differences(rnn, inputs, observe, step=1e-6)
    torch.testing.assert_close(theory.contributions(rnn, inputs, observe=observe), expected, rtol=1e-4, atol=1e-7)


def test_outputs_after_steps_are_those_of_each_sequence_one_after_the_other() -> None:
    rnn, inputs = make_rnn("ntm"), random_input(5, 2, 4)
    output, _ = rnn(inputs)
    for row, answer in enumerate(theory.outputs_after(3)(rnn, inputs)):
        assert answer.tolist() == torch.cat([output[3, row], output[4, row]]).tolist()


def test_torch_state_has_all_layers_of_both_parts() -> None:
    rnn, inputs = torch_rnn(nn.LSTM, layers=2), random_input(4, 3, 3)
    _, (hidden, cell) = rnn(inputs)
    for row, state in enumerate(theory.torch_state(rnn, inputs)):
        by_hand = [hidden[0, row], hidden[1, row], cell[0, row], cell[1, row]]
        assert state.tolist() == torch.cat(by_hand).tolist()


def test_whole_state_has_controller_and_memory() -> None:
    rnn, inputs = make_rnn("ntm"), random_input(4, 3, 4)
    _, state = rnn(inputs)
    parts = [*state.controller, *state.memory]
    for row, whole in enumerate(theory.whole_state(rnn, inputs)):
        assert whole.tolist() == torch.cat([part[row].flatten() for part in parts]).tolist()


def test_joint_state_of_an_lstm_counts_both_parts() -> None:
    rnn, inputs = torch_rnn(nn.LSTM), random_input(4, 2, 3)

    def part(which: int) -> theory.Observe:
        return lambda module, given: module(given)[1][which][0]

    both = theory.contributions(rnn, inputs, observe=theory.torch_state)
    hidden, cell = (theory.contributions(rnn, inputs, observe=part(which)) for which in (0, 1))
    torch.testing.assert_close(both.square(), hidden.square() + cell.square())


@pytest.mark.parametrize("rows", [1, 3, 8, 1000])
def test_how_many_rows_run_at_once_changes_nothing(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rnn, inputs = torch_rnn(nn.GRU), random_input(4, 3, 3)

    def probed() -> Tensor:
        return theory.contributions(rnn, inputs, probes=5, generator=torch.Generator().manual_seed(1))

    whole, estimate = theory.contributions(rnn, inputs), probed()
    monkeypatch.setattr(jacobians, "ROWS", rows)
    torch.testing.assert_close(theory.contributions(rnn, inputs), whole)
    torch.testing.assert_close(probed(), estimate)
    one_by_one = torch.cat([theory.contributions(rnn, inputs[:, b : b + 1]) for b in range(3)], dim=1)
    torch.testing.assert_close(one_by_one, whole)


@pytest.mark.usefixtures("unchecked")
def test_probes_estimate_the_square_without_bias() -> None:
    module, inputs = Linear(hidden=7), random_input(4, 2, 3)
    exact = theory.contributions(module, inputs)[:, 0].square()
    generator = torch.Generator().manual_seed(0)
    trials = torch.stack(
        [theory.contributions(module, inputs, probes=2, generator=generator).square() for _ in range(400)]
    )
    estimates = trials.permute(1, 0, 2).flatten(1)
    error = estimates.std(1) / math.sqrt(estimates.shape[1])
    assert ((estimates.mean(1) - exact).abs() < 4 * error).all()
    assert (error < 0.03 * exact).all()


def test_large_states_are_probed_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    module, inputs = Linear(hidden=9), random_input(4, 2, 3)
    exact = theory.contributions(module, inputs)
    monkeypatch.setattr(jacobians, "EXACT_UP_TO", 8)
    monkeypatch.setattr(jacobians, "PROBES", 3)
    by_default, asked_for = (
        theory.contributions(module, inputs, probes=probes, generator=torch.Generator().manual_seed(5))
        for probes in (None, 3)
    )
    torch.testing.assert_close(by_default, asked_for, rtol=0, atol=0)
    assert not torch.allclose(by_default, exact)


def test_module_and_inputs_are_left_as_they_are() -> None:
    rnn, inputs = torch_rnn(nn.LSTM), random_input(4, 2, 3)
    with torch.no_grad():  # the caller's, who wants no gradients
        measured = theory.contributions(rnn, inputs)
    assert (measured > 0).all()
    assert not measured.requires_grad
    assert not inputs.requires_grad
    assert all(parameter.grad is None for parameter in rnn.parameters())


@pytest.mark.parametrize(
    "observe", [lambda _, given: given.detach()[-1], lambda module, given: module(given)[0][-1] * 0 + 1]
)
def test_a_state_that_does_not_depend_on_the_input(observe: theory.Observe) -> None:
    measured = theory.contributions(torch_rnn(nn.GRU), random_input(4, 2, 3), observe=observe)
    assert (measured == 0).all()


def test_mean_profile_is_the_root_mean_square() -> None:
    measured = torch.tensor([[3.0, 5.0], [0.0, 0.0]], dtype=torch.float64)
    assert theory.mean_profile(measured) == pytest.approx([math.sqrt(17), 0])
    assert theory.average([1.0, 2.0, 6.0]) == 3


@several
@given(st.floats(0.2, 1.5), positive, st.integers(2, 60))
def test_both_ways_find_the_decay_of_a_geometric_profile(decay: float, fresh: float, steps: int) -> None:
    profile = [fresh * decay**age for age in reversed(range(steps))]
    for fit in (theory.sum_matched_decay(profile), theory.log_slope_decay(profile)):
        assert fit.decay == pytest.approx(decay, rel=1e-9)
        assert fit.r_squared == pytest.approx(1, abs=1e-6)


@several
@given(st.lists(positive, min_size=2, max_size=40))
def test_theorem_one_matches_the_sum_of_any_profile(profile: list[float]) -> None:
    decay = theory.sum_matched_decay(profile).decay
    total = 0.0
    for t in range(1, len(profile) + 1):
        total += profile[-1] * decay ** (len(profile) - t)
    assert total / len(profile) == pytest.approx(theory.average(profile), rel=1e-9)
    assert decay <= theory.premise_bound(profile) * (1 + 1e-9)  # λ ∈ (0, λ_c]


@several
@given(st.lists(st.tuples(positive, st.lists(positive, min_size=1, max_size=6)), min_size=1, max_size=5))
def test_theorem_two_is_a_lower_bound(stored: list[tuple[float, list[float]]]) -> None:
    """Each write has its own profile; the least λ and the least fresh contribution give less than all of them."""
    profiles = [[*older, fresh] for fresh, older in stored]
    decay = min(theory.sum_matched_decay(profile).decay for profile in profiles)
    fresh = min(profile[-1] for profile in profiles)
    kept = math.fsum(part for profile in profiles for part in profile) / sum(map(len, profiles))
    assert fresh * sizing.average_contribution(decay, [len(profile) for profile in profiles]) <= kept * (1 + 1e-9)


def loop_slope(profile: list[float]) -> tuple[float, float]:
    """The normal equations of a line, and R² as the squared correlation."""
    count = sum_x = sum_y = sum_xx = sum_xy = sum_yy = 0.0
    for age, part in enumerate(reversed(profile)):
        if part > 0:
            y = math.log(part)
            count, sum_x, sum_y = count + 1, sum_x + age, sum_y + y
            sum_xx, sum_xy, sum_yy = sum_xx + age * age, sum_xy + age * y, sum_yy + y * y
    covariance = count * sum_xy - sum_x * sum_y
    variance_x, variance_y = count * sum_xx - sum_x**2, count * sum_yy - sum_y**2
    return math.exp(covariance / variance_x), covariance**2 / (variance_x * variance_y)


@several
@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e3)), min_size=3, max_size=20))
def test_log_slope_is_the_line_of_least_squares(profile: list[float]) -> None:
    profile = [*profile, 0.5, 2.0]  # at least two that differ
    fit = theory.log_slope_decay(profile)
    decay, r_squared = loop_slope(profile)
    assert fit.decay == pytest.approx(decay, rel=1e-6)
    assert fit.r_squared == pytest.approx(r_squared, abs=1e-6)


def test_r_squared_tells_what_is_not_geometric() -> None:
    wavy = [1.0, 5.0, 0.2, 4.0, 0.1, 2.0]
    assert theory.log_slope_decay(wavy).r_squared < 0.2
    assert theory.sum_matched_decay(wavy).r_squared < 0.2


@pytest.mark.parametrize("profile", [[0.0, 0.0, 2.0], [0.0, 1e-30]])
def test_a_network_without_a_past_has_decay_zero(profile: list[float]) -> None:
    assert theory.sum_matched_decay(profile) == theory.log_slope_decay(profile) == theory.DecayFit(0.0, 1.0)


@pytest.mark.parametrize("level", [1e-30, 0.1, 1.0, 1e30])
def test_a_network_that_forgets_nothing_has_decay_one(level: float) -> None:
    for fit in (theory.sum_matched_decay([level] * 7), theory.log_slope_decay([level] * 7)):
        assert fit.decay == pytest.approx(1, rel=1e-12)
        assert fit.r_squared == 1


@pytest.mark.parametrize(
    ("profile", "bound"),
    [([1.0, 2.0, 4.0], 0.5), ([3.0, 1.0, 4.0], 3.0), ([1.0, 0.0, 1.0], math.inf), ([0.0, 0.0, 1.0], 0.0), ([1.0], 0.0)],
)
def test_premise_bound(profile: list[float], bound: float) -> None:
    assert theory.premise_bound(profile) == bound


class FromState(nn.Module):
    """A network with an initial state of its own."""

    def __init__(self, rnn: nn.RNN, initial: Tensor) -> None:
        super().__init__()
        self.rnn, self.initial = rnn, initial

    def forward(self, inputs: Tensor) -> Tensor:
        output: Tensor = self.rnn(inputs, self.initial.expand(1, inputs.shape[1], -1).contiguous())[0]
        return output


def test_counter_example_to_the_premise_of_theorem_one() -> None:
    """A tanh network whose second input counts for nothing although its first does: no useful λ_c exists."""
    rnn = nn.RNN(1, 2, dtype=torch.float64)
    rnn.load_state_dict(
        {
            "weight_ih_l0": torch.tensor([[1.0], [-1.0]], dtype=torch.float64),
            "weight_hh_l0": torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64),
            "bias_ih_l0": torch.tensor([-0.7071, 0.0], dtype=torch.float64),
            "bias_hh_l0": torch.zeros(2, dtype=torch.float64),
        }
    )
    module = FromState(rnn, torch.tensor([0.79425, 0.79425], dtype=torch.float64))
    inputs = torch.tensor([-0.8814, 0.0, 0.3], dtype=torch.float64).reshape(3, 1, 1)
    profile = theory.mean_profile(theory.contributions(module, inputs))
    assert profile == pytest.approx(finite_differences(module, inputs, theory.last_output)[:, 0].tolist(), abs=1e-8)
    assert profile[0] == pytest.approx(0.43, abs=0.005)
    assert profile[1] < 1e-3
    assert theory.premise_bound(profile) > 400
    assert 0 < theory.sum_matched_decay(profile).decay < 1  # the fit exists all the same


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.contributions(nn.GRU(3, 4), torch.zeros(4, 2, 3, dtype=torch.long)), "embed tokens first"),
        (lambda: theory.contributions(nn.GRU(3, 4), torch.zeros(0, 2, 3)), "got torch.float32 of shape (0, 2, 3)"),
        (lambda: theory.contributions(nn.GRU(3, 4), torch.zeros(4, 2, 3), probes=0), "probes must be at least 1"),
        (lambda: theory.sum_matched_decay([1.0]), "at least 2 steps, got 1"),
        (lambda: theory.log_slope_decay([1.0, 0.0]), "the last input contributes nothing"),
        (lambda: theory.sum_matched_decay([1e300, 1e-300]), "the last input contributes nothing"),
        (lambda: theory.sum_matched_decay([0.0, 0.0]), "the last input contributes nothing"),
        (lambda: theory.log_slope_decay([math.nan, 1.0]), "finite numbers of at least 0"),
        (lambda: theory.sum_matched_decay([math.inf, 1.0]), "finite numbers of at least 0"),
    ],
)
def test_bad_input_is_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError) as raised:
        call()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
