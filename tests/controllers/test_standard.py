"""Controllers against torch.nn's cells and a loop, their connection to a memory, and how they begin."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mnemon import (
    AssociativeLSTMController,
    DNCMemory,
    ElmanController,
    FastWeightController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LRUAMemory,
    LSTMController,
    NTMMemory,
    OriginalLSTMController,
    UserError,
)
from mnemon.controllers import Controller, HiddenState, LSTMState
from mnemon.initialisation import DNCRecipe, NTMRecipe

Make = Callable[..., Controller[Any]]
CONTROLLERS: list[Make] = [
    FeedForwardController,
    ElmanController,
    GRUController,
    LSTMController,
    LayerNormLSTMController,
    OriginalLSTMController,
    AssociativeLSTMController,
    FastWeightController,
]
RECURRENT = CONTROLLERS[1:]
every_controller = pytest.mark.parametrize("make", CONTROLLERS)
every_recurrent = pytest.mark.parametrize("make", RECURRENT)

BATCH, INPUT, READ, HIDDEN, STEPS = 3, 4, 3, 6, 4


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def draw(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def connected(make: Make, **options: Any) -> Controller[Any]:
    controller = make(INPUT, HIDDEN, dtype=torch.float64, **options)
    controller.connect(READ, DNCRecipe())
    return controller


@pytest.mark.parametrize(
    ("make", "cell"),
    [
        (ElmanController, nn.RNNCell(INPUT + READ, HIDDEN, dtype=torch.float64)),
        (GRUController, nn.GRUCell(INPUT + READ, HIDDEN, dtype=torch.float64)),
        (LSTMController, nn.LSTMCell(INPUT + READ, HIDDEN, dtype=torch.float64)),
    ],
)
def test_steps_like_the_cell_of_torch(make: Make, cell: nn.Module) -> None:
    controller = connected(make)
    cell.load_state_dict(controller.state_dict())  # the names are torch's
    inputs = draw(STEPS, BATCH, INPUT + READ).requires_grad_()
    start = draw(2, BATCH, HIDDEN).requires_grad_()
    state: Any = LSTMState(*start) if make is LSTMController else HiddenState(start[0])
    theirs: Any = tuple(start) if make is LSTMController else start[0]
    ours_out, theirs_out = [], []
    for x in inputs:
        state, theirs = controller(x, state), cell(x, theirs)
        ours_out += list(state)
        theirs_out += list(theirs) if make is LSTMController else [theirs]
    ours, expected = torch.stack(ours_out), torch.stack(theirs_out)
    torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)
    weight = torch.randn_like(ours)
    names = dict(cell.named_parameters()).keys()
    gradients = torch.autograd.grad(
        (weight * ours).sum(), [inputs, start, *(controller.get_parameter(name) for name in names)]
    )
    expected_gradients = torch.autograd.grad((weight * expected).sum(), [inputs, start, *cell.parameters()])
    for gradient, expected_gradient in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, expected_gradient, rtol=1e-11, atol=1e-11)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def normalise(numbers: list[float], gain: list[float], bias: list[float]) -> list[float]:
    mean = sum(numbers) / len(numbers)
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return [
        g * (number - mean) / math.sqrt(variance + 1e-5) + b for number, g, b in zip(numbers, gain, bias, strict=True)
    ]


def layer_norm_lstm(
    controller: LayerNormLSTMController, inputs: list[float], hidden: list[float], cell: list[float]
) -> tuple[list[float], list[float]]:
    parameters = {name: part.tolist() for name, part in controller.named_parameters()}
    gain, bias = parameters["norm_gain"], parameters["norm_bias"]
    gates = []
    for gate in range(4):
        rows = range(gate * HIDDEN, (gate + 1) * HIDDEN)
        summed = [
            parameters.get("bias_ih", [0.0] * 4 * HIDDEN)[row]
            + sum(w * x for w, x in zip(parameters["weight_ih"][row], inputs, strict=True))
            + sum(w * h for w, h in zip(parameters["weight_hh"][row], hidden, strict=True))
            for row in rows
        ]
        gates.append(normalise(summed, gain[gate], bias[gate]))
    enter, forget, candidate, leave = gates
    mixed = [
        sigmoid(f + 1) * c + sigmoid(i) * math.tanh(g)
        for i, f, g, c in zip(enter, forget, candidate, cell, strict=True)
    ]
    new_cell = normalise(mixed, gain[4], bias[4])
    return [sigmoid(o) * math.tanh(c) for o, c in zip(leave, new_cell, strict=True)], new_cell


@pytest.mark.parametrize("bias", [False, True])
def test_layer_norm_lstm_against_a_loop(bias: bool) -> None:
    controller = LayerNormLSTMController(INPUT, HIDDEN, bias=bias, dtype=torch.float64)
    controller.connect(READ, DNCRecipe())
    with torch.no_grad():
        for parameter in (controller.norm_gain, controller.norm_bias, *([controller.bias_ih] if bias else [])):
            assert parameter is not None
            parameter.add_(torch.randn_like(parameter))
    state = start = LSTMState(draw(BATCH, HIDDEN), draw(BATCH, HIDDEN))
    inputs = draw(STEPS, BATCH, INPUT + READ)
    for x in inputs:
        state = controller(x, state)
    for sample in range(BATCH):
        hidden, cell = start.hidden[sample].tolist(), start.cell[sample].tolist()
        for x in inputs[:, sample].tolist():
            hidden, cell = layer_norm_lstm(controller, x, hidden, cell)
        for part, expected in ((state.hidden, hidden), (state.cell, cell)):
            torch.testing.assert_close(part[sample], draw(0).new_tensor(expected), rtol=1e-10, atol=1e-10)


def original_lstm(
    controller: OriginalLSTMController, inputs: list[float], hidden: list[float], cell: list[float]
) -> tuple[list[float], list[float]]:
    parameters = {name: part.tolist() for name, part in controller.named_parameters()}

    def net(row: int) -> float:
        seen = sum(w * x for w, x in zip(parameters["weight_ih"][row], inputs, strict=True))
        recurrent = sum(w * h for w, h in zip(parameters["weight_hh"][row], hidden, strict=True))
        return float(seen + recurrent + parameters["bias_ih"][row] + parameters["bias_hh"][row])

    new_cell = [s + sigmoid(net(unit)) * math.tanh(net(HIDDEN + unit)) for unit, s in enumerate(cell)]
    return [sigmoid(net(2 * HIDDEN + unit)) * math.tanh(s) for unit, s in enumerate(new_cell)], new_cell


def test_original_lstm_against_a_loop() -> None:
    controller = OriginalLSTMController(INPUT, HIDDEN, dtype=torch.float64)
    state = start = LSTMState(draw(BATCH, HIDDEN), draw(BATCH, HIDDEN))
    inputs = draw(STEPS, BATCH, INPUT)
    for x in inputs:
        state = controller(x, state)
    for sample in range(BATCH):
        hidden, cell = start.hidden[sample].tolist(), start.cell[sample].tolist()
        for x in inputs[:, sample].tolist():
            hidden, cell = original_lstm(controller, x, hidden, cell)
        for part, expected in ((state.hidden, hidden), (state.cell, cell)):
            torch.testing.assert_close(part[sample], draw(0).new_tensor(expected), rtol=1e-10, atol=1e-10)


def test_original_lstm_is_an_lstm_that_always_keeps() -> None:
    original, usual = (make(INPUT, HIDDEN, dtype=torch.float64) for make in (OriginalLSTMController, LSTMController))
    with torch.no_grad():
        for name, part in usual.named_parameters():
            enter, _, candidate, leave = part.chunk(4)
            original.get_parameter(name).copy_(torch.cat([enter, candidate, leave]))
        assert usual.bias_ih is not None
        usual.bias_ih[HIDDEN : 2 * HIDDEN] = 1e4
    inputs, state = draw(BATCH, INPUT), LSTMState(draw(BATCH, HIDDEN), draw(BATCH, HIDDEN))
    for ours, expected in zip(original(inputs, state), usual(inputs, state), strict=True):
        torch.testing.assert_close(ours, expected)


def test_errors_flow_back_through_the_original_cell_unchanged() -> None:
    """The constant error carousel: ∂s(t)/∂s(0) along the cell is 1 at every unit, however long."""
    controller = OriginalLSTMController(INPUT, HIDDEN, dtype=torch.float64)
    cell = draw(1, HIDDEN).requires_grad_()
    state = LSTMState(torch.zeros(1, HIDDEN, dtype=torch.float64), cell)
    for x in draw(50, 1, INPUT):
        state = controller(x, state._replace(hidden=state.hidden.detach()))  # the path through the gates is cut
    assert torch.equal(torch.autograd.grad(state.cell.sum(), cell)[0], torch.ones(1, HIDDEN, dtype=torch.float64))


def test_layer_norm_lstm_begins_with_gains_of_one_and_no_biases() -> None:
    controller = LayerNormLSTMController(INPUT, HIDDEN)
    assert torch.equal(controller.norm_gain, torch.ones(5, HIDDEN))
    assert torch.equal(controller.norm_bias, torch.zeros(5, HIDDEN))
    assert controller.bias_ih is None
    assert controller.bias_hh is None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (FeedForwardController, HIDDEN * (INPUT + READ + 1)),
        (ElmanController, HIDDEN * (INPUT + READ + HIDDEN + 2)),
        (GRUController, 3 * HIDDEN * (INPUT + READ + HIDDEN + 2)),
        (LSTMController, 4 * HIDDEN * (INPUT + READ + HIDDEN + 2)),
        (LayerNormLSTMController, 4 * HIDDEN * (INPUT + READ + HIDDEN) + 10 * HIDDEN),
        (OriginalLSTMController, 3 * HIDDEN * (INPUT + READ + HIDDEN + 2)),
        (AssociativeLSTMController, 9 * HIDDEN // 2 * (INPUT + READ + HIDDEN + 2)),
        (FastWeightController, HIDDEN * (INPUT + READ + HIDDEN + 2) + 2 * HIDDEN),
    ],
)
def test_parameter_count(make: Make, expected: int) -> None:
    assert sum(part.numel() for part in connected(make).parameters()) == expected


def test_layer_norm_lstm_has_the_parameters_of_the_thesis() -> None:
    """LSTM-125 on ten symbols: 70,000 with a read-out of 125 × 10. A bias of the gates is one of each."""
    assert sum(part.numel() for part in LayerNormLSTMController(10, 125).parameters()) == 70_000 - 1_250
    assert sum(part.numel() for part in LayerNormLSTMController(10, 125, bias=True).parameters()) == 70_000 - 750


def test_feed_forward() -> None:
    controller = connected(FeedForwardController)
    inputs = draw(BATCH, INPUT + READ)
    assert controller.bias_ih is not None
    expected = torch.tanh(inputs @ controller.weight_ih.T + controller.bias_ih)
    for hidden in (torch.zeros(BATCH, HIDDEN, dtype=torch.float64), draw(BATCH, HIDDEN)):
        torch.testing.assert_close(controller(inputs, HiddenState(hidden)).hidden, expected)


def test_feed_forward_has_no_state_to_learn() -> None:
    with pytest.raises(UserError, match=r"^a feed-forward controller has no state to learn: leave out learned_state$"):
        FeedForwardController(INPUT, HIDDEN, learned_state=True)


@every_controller
def test_gradient(make: Make) -> None:
    controller = connected(make)
    state = controller.init_state(2)
    parts = [draw(*part.shape).requires_grad_() for part in state]

    def step(inputs: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        return tuple(controller(inputs, type(state)(*parts)))

    assert torch.autograd.gradcheck(step, [draw(2, INPUT + READ).requires_grad_(), *parts])


@every_controller
def test_starts_from_zero(make: Make) -> None:
    state = connected(make).init_state(BATCH)
    assert state.hidden.shape == (BATCH, HIDDEN)
    for part in state:
        assert torch.equal(part, torch.zeros(BATCH, *part.shape[1:], dtype=torch.float64))


@every_recurrent
def test_starts_from_what_it_learned(make: Make) -> None:
    controller = connected(make, learned_state=True)
    plain = sum(part.numel() for part in connected(make).parameters())
    state = controller.init_state(BATCH)
    assert sum(part.numel() for part in controller.parameters()) == plain + sum(part[0].numel() for part in state)
    for name, part in state._asdict().items():
        learned = controller.initial_state[name]
        assert learned.any()
        assert part.shape == (BATCH, *learned.shape)
        assert all(torch.equal(sample, learned) for sample in part)
    output = controller(draw(BATCH, INPUT + READ), state).hidden
    for gradient in torch.autograd.grad(output.sum(), list(controller.initial_state.values())):
        assert gradient.any()


def test_a_learned_state_begins_small() -> None:
    controller = LSTMController(1, 1000, learned_state=True)
    for part in controller.initial_state.values():
        assert abs(part.std().item() - 0.05) < 0.005
        assert abs(part.mean().item()) < 0.006


@every_controller
def test_connecting_widens_the_input_by_what_is_read(make: Make) -> None:
    controller = make(INPUT, HIDDEN, dtype=torch.float64)
    alone = controller(draw(BATCH, INPUT), controller.init_state(BATCH))
    assert alone.hidden.shape == (BATCH, HIDDEN)
    rows = controller.weight_ih.shape[0]
    controller.connect(READ, DNCRecipe())
    assert controller.weight_ih.shape == (rows, INPUT + READ)
    assert controller.weight_ih.dtype == torch.float64
    assert controller.weight_ih.requires_grad
    assert any(part is controller.weight_ih for part in controller.parameters())
    assert (controller.input_size, controller.read_size) == (INPUT, READ)


@every_controller
def test_a_controller_belongs_to_one_cell(make: Make) -> None:
    controller = connected(make)
    before = controller.weight_ih
    with pytest.raises(UserError) as raised:
        controller.connect(READ, DNCRecipe())
    assert str(raised.value) == "this controller already belongs to a cell: make a new controller for each cell"
    assert controller.weight_ih is before


@every_controller
@pytest.mark.parametrize("name", ["input_size", "hidden_size"])
def test_sizes_below_one_are_refused_by_name(make: Make, name: str) -> None:
    with pytest.raises(UserError, match=rf"^{name} must be at least 1, got 0$"):
        make(**{"input_size": INPUT, "hidden_size": HIDDEN, name: 0})


def assert_uniform(weight: Tensor, bound: float) -> None:
    """Drawn from U(±bound): it fills the range and has its spread."""
    assert 0.98 * bound < weight.abs().max() <= bound
    assert weight.min() < -0.98 * bound
    assert abs(weight.std().item() * math.sqrt(3) / bound - 1) < 0.05


@pytest.mark.parametrize("kind", [LSTMController, GRUController])
def test_with_an_ntm_the_weights_are_wide_and_the_biases_zero(kind: Make) -> None:
    memory = NTMMemory(8, 5, 3)
    controller = kind(10, 60)
    controller.connect(memory.read_size, memory.recipe)
    bound = 5 / math.sqrt(10 + 15 + 60)
    assert controller.weight_hh is not None
    assert_uniform(controller.weight_ih, bound)
    assert_uniform(controller.weight_hh, bound)
    for bias in (controller.bias_ih, controller.bias_hh):
        assert bias is not None
        assert not bias.any()


@pytest.mark.parametrize("make", [DNCMemory, LRUAMemory])
@pytest.mark.parametrize(
    ("kind", "biases"),
    [(LSTMController, [0.0, 1.0, 0.0, 0.0]), (GRUController, [1.0, 1.0, 0.0])],  # i, f, g, o; r, z, n
)
def test_with_a_dnc_weights_are_glorots_and_what_is_kept_begins_open(
    make: Callable[..., Any], kind: Make, biases: list[float]
) -> None:
    memory = make(8, 5, 3)
    controller = kind(10, 60)
    controller.connect(memory.read_size, memory.recipe)
    for weight in (controller.weight_ih, controller.weight_hh):
        assert weight is not None
        assert_uniform(weight, math.sqrt(6 / (10 + 3 * 5 + 60 + len(biases) * 60)))
    assert controller.bias_ih is not None
    assert controller.bias_hh is not None
    by_gate = (controller.bias_ih + controller.bias_hh).view(len(biases), 60)
    assert torch.equal(by_gate, torch.tensor(biases).unsqueeze(1).expand_as(by_gate))


@every_recurrent
@pytest.mark.parametrize("recipe", [NTMRecipe(), DNCRecipe()])
def test_reset_draws_everything_anew(make: Make, recipe: NTMRecipe | DNCRecipe) -> None:
    controller = make(INPUT, HIDDEN, learned_state=True)
    controller.connect(READ, recipe)
    before = {name: part.detach().clone() for name, part in controller.named_parameters()}
    with torch.no_grad():
        for part in controller.parameters():
            part.fill_(100)
    controller.reset_parameters()
    for name, part in controller.named_parameters():
        assert part.abs().max() < 10
        assert not name.startswith(("weight", "initial")) or not torch.equal(part, before[name])
