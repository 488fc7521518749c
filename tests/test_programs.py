"""Stored programs against the equations of thesis §7.3, written out as loops."""

import copy
import math
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import gradcheck

from mnemon import (
    MANN,
    LookUp,
    LSTMController,
    MemoryCell,
    NTMMemory,
    ProgramKeys,
    StoredProgramInterface,
    StoredProgramLinear,
    UserError,
    record_trace,
)
from mnemon.models.config import CONTROLLERS
from mnemon.programs import draw_one, key_obliqueness, key_similarity, mix_outputs
from tests.parts import EVERY_MEMORY, random_input

EXAMPLE = Path(__file__).parent.parent / "examples" / "switching_regimes.py"
BATCH, STORES, PROGRAMS, KEY, SOURCE = 3, 2, 4, 3, 5
SIZES = [2, 3]


def make_keys(seed: int = 0, programs: int = PROGRAMS, bias: bool = True, **look_up: Any) -> ProgramKeys:
    """Two stores in float64 whose every number matters."""
    torch.manual_seed(seed)
    keys = ProgramKeys(programs, KEY, LookUp(**look_up), bias=bias)
    keys.connect(SOURCE, SIZES, torch.empty(0, dtype=torch.float64))
    with torch.no_grad():
        for parameter in keys.parameters():
            parameter.normal_()
    return keys


def make_rnn(memory: str, interface: StoredProgramInterface | None, controller: str = "lstm") -> MANN:
    torch.manual_seed(0)
    cell = MemoryCell(CONTROLLERS[controller](4, 6), EVERY_MEMORY[memory](), interface=interface, output_size=2)
    return MANN(cell.double())


def slow_weights(keys: ProgramKeys, source: Tensor) -> Tensor:
    """The distribution of every store, number by number (eqs. d_p, pt)."""
    squash = math.tanh if keys.look_up.similarity == "tanh-cosine" else float
    weights = torch.zeros(len(source), STORES, PROGRAMS, dtype=torch.float64)
    for b, row in enumerate(source.tolist()):
        for s in range(STORES):
            weight = keys.query_weight[s].tolist()
            bias = [0.0] * (KEY + 1) if keys.query_bias is None else keys.query_bias[s].tolist()
            asked = [sum(w * x for w, x in zip(weight[i], row, strict=True)) + bias[i] for i in range(KEY + 1)]
            query, strength = [squash(number) for number in asked[:KEY]], math.log(1 + math.exp(asked[KEY]))
            scores = []
            for key in keys.vectors[s].tolist():
                stored = [squash(number) for number in key]
                dot = sum(k * m for k, m in zip(query, stored, strict=True))
                scores.append(math.exp(strength * dot / (math.hypot(*query) * math.hypot(*stored))))
            weights[b, s] = torch.tensor(scores) / sum(scores)
    return weights


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("similarity", ["cosine", "tanh-cosine"])
def test_look_up_is_its_equations(similarity: str, bias: bool) -> None:
    keys, source = make_keys(similarity=similarity, bias=bias), random_input(BATCH, SOURCE)
    weights = keys(source)
    torch.testing.assert_close(weights, slow_weights(keys, source), rtol=1e-5, atol=1e-6)  # ε under the norms
    torch.testing.assert_close(weights.sum(2), torch.ones(BATCH, STORES, dtype=torch.float64))
    assert (weights > 0).all()


def test_mixed_outputs_are_those_of_the_mixed_program() -> None:
    """Σ_i w_i (W_i x + b_i) = W x + b, W and b being reshaped from p_t = Σ_i w_i M_p(i).v of each store."""
    weights = torch.softmax(random_input(BATCH, STORES, PROGRAMS, seed=2), dim=2)
    programs, biases = random_input(PROGRAMS, 5, SOURCE, seed=3), random_input(PROGRAMS, 5, seed=4)
    source = random_input(BATCH, SOURCE)
    outputs = torch.einsum("pxq,bq->bpx", programs, source) + biases
    mixed = mix_outputs(outputs, weights, torch.tensor([0, 0, 1, 1, 1]))
    for b in range(BATCH):
        for store, rows in enumerate((slice(0, 2), slice(2, 5))):
            values = torch.cat([programs[:, rows].flatten(1), biases[:, rows]], dim=1)  # M_p.v
            program = torch.zeros_like(values[0])
            for i in range(PROGRAMS):
                program += weights[b, store, i] * values[i]
            size = rows.stop - rows.start
            matrix, bias = program[: size * SOURCE].view(size, SOURCE), program[size * SOURCE :]
            torch.testing.assert_close(mixed[b, rows], matrix @ source[b] + bias)


def test_interface_is_its_equations() -> None:
    interface = StoredProgramInterface(3, 2)
    rnn = make_rnn("ntm", interface)
    hidden = random_input(BATCH, 6)
    vector, chosen = interface.steer(hidden)
    assert chosen is not None
    assert interface.bias is not None
    assert chosen.shape == (BATCH, 4, 3)  # two heads that read, two that write
    start = 0
    for store, size in enumerate(rnn.cell.memory.head_sizes):
        rows = slice(start, start + size)
        for b in range(BATCH):
            weight = torch.stack([chosen[b, store, i] * interface.weight[i, rows] for i in range(3)]).sum(0)
            bias = torch.stack([chosen[b, store, i] * interface.bias[i, rows] for i in range(3)]).sum(0)
            torch.testing.assert_close(vector[b, rows], weight @ hidden[b] + bias)
        start += size


@pytest.mark.parametrize("memory", EVERY_MEMORY)
@pytest.mark.parametrize("choice", ["softmax", "gumbel"])
def test_one_program_is_the_linear_interface_bit_by_bit(memory: str, choice: Any) -> None:
    stored = StoredProgramInterface(1, 2, look_up=LookUp(choice=choice))
    rnn, plain = make_rnn(memory, stored), make_rnn(memory, None)
    shared = {name: value for name, value in rnn.state_dict().items() if ".keys." not in name}
    for name in ("weight", "bias"):
        shared[f"cell.interface.{name}"] = shared[f"cell.interface.{name}"].squeeze(0)
    plain.load_state_dict(shared)
    rnn.engine = plain.engine = "reference"
    inputs = random_input(6, 3, 4)
    assert torch.equal(rnn(inputs)[0], plain(inputs)[0])
    assert torch.equal(rnn.eval()(inputs)[0], plain(inputs)[0])


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_one_program_is_the_state_network_bit_by_bit(controller: str) -> None:
    kind = CONTROLLERS[controller]
    torch.manual_seed(0)
    cells = [
        MemoryCell(kind(4, 6, programs=programs, dtype=torch.float64), NTMMemory(5, 3))
        for programs in (ProgramKeys(1, 2), None)
    ]
    cells[1].load_state_dict({name: v for name, v in cells[0].state_dict().items() if ".programs." not in name})
    inputs = random_input(6, 3, 4)
    stored, plain = (MANN(cell, engine="reference")(inputs)[0] for cell in cells)
    assert torch.equal(stored, plain)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_the_state_network_runs_the_mixed_program(controller: str) -> None:
    """One row's program put into a plain controller gives that row's step."""
    kind = CONTROLLERS[controller]
    torch.manual_seed(0)
    stored = kind(4, 6, programs=ProgramKeys(3, 2), dtype=torch.float64)
    plain = kind(4, 6, dtype=torch.float64)
    assert stored.programs is not None
    inputs, state = random_input(1, 4), stored.init_state(1)
    state = state._replace(hidden=random_input(1, 6, seed=2))
    seen = torch.cat([inputs, state.hidden], dim=1) if kind.recurrent else inputs
    weights = stored.programs(seen)[0, 0]
    for name, mixed in plain.named_parameters():
        programs = stored.get_parameter(name)
        if not name.startswith("norm"):
            programs = torch.tensordot(weights, programs.unflatten(0, (3, -1)), dims=1)  # type: ignore[no-untyped-call]
        mixed.data.copy_(programs)
    for name, constant in plain.named_buffers():
        constant.copy_(stored.get_buffer(name))
    for after, expected in zip(stored(inputs, state), plain(inputs, state), strict=True):
        torch.testing.assert_close(after, expected)


def test_programs_in_the_state_network_are_refused_by_the_kernels_and_learn() -> None:
    torch.manual_seed(0)
    rnn = MANN(MemoryCell(LSTMController(4, 6, programs=ProgramKeys(2, 2)), NTMMemory(5, 3), output_size=2))
    output, _, losses = rnn(torch.randn(3, 2, 4), losses=True)
    (output.square().sum() + sum(losses.values())).backward()
    assert list(losses) == ["controller.similar-keys"]
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in rnn.parameters())
    rnn.engine = "native"
    with pytest.raises(UserError, match="programs in the state network"):
        rnn(torch.randn(3, 2, 4))


@pytest.mark.parametrize("bias", [True, False])
def test_one_program_is_the_linear_layer_bit_by_bit(bias: bool) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(5, 3, bias=bias)
    layer = StoredProgramLinear.from_linear(linear, programs=1, key_size=2)
    inputs = torch.randn(4, 2, 5)
    assert torch.equal(layer(inputs), linear(inputs))
    assert layer(inputs[0, 0]).shape == (3,)


def test_a_replaced_layer_begins_as_it_was_and_its_programs_part() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(5, 3)
    layer = StoredProgramLinear.from_linear(linear, programs=3, key_size=3)
    inputs = torch.randn(4, 5)
    torch.testing.assert_close(layer(inputs), linear(inputs))
    layer(inputs).square().sum().backward()
    assert layer.weight.grad is not None
    assert not torch.allclose(layer.weight.grad[0], layer.weight.grad[1])


def test_gradients() -> None:
    for similarity in ("cosine", "tanh-cosine"):
        keys = make_keys(similarity=similarity)
        source, outputs = random_input(BATCH, SOURCE), random_input(BATCH, 5 * PROGRAMS, seed=2)

        def run(source: Tensor, outputs: Tensor, *_: Tensor, keys: ProgramKeys = keys) -> Tensor:
            return keys.mix(outputs, keys(source))

        assert gradcheck(run, (source.requires_grad_(), outputs.requires_grad_(), *keys.parameters()))
    vectors = random_input(STORES, PROGRAMS, KEY).requires_grad_()
    assert gradcheck(key_similarity, (vectors,))
    assert gradcheck(key_obliqueness, (vectors,))


def test_drawn_program_is_one_hot_and_has_the_gradient_of_the_softmax() -> None:
    logits = random_input(2_000, 1, 3).requires_grad_()
    drawn = draw_one(logits, temperature=0.7, noisy=False)
    assert torch.equal(drawn, nn.functional.one_hot(logits.argmax(2), 3).double())
    towards = random_input(2_000, 1, 3, seed=2)
    (gradient,) = torch.autograd.grad((drawn * towards).sum(), logits)
    (soft,) = torch.autograd.grad((torch.softmax(logits / 0.7, dim=2) * towards).sum(), logits)
    torch.testing.assert_close(gradient, soft)


def test_programs_are_drawn_by_their_probability() -> None:
    torch.manual_seed(0)
    probabilities = torch.tensor([0.6, 0.3, 0.1], dtype=torch.float64)
    for temperature in (0.5, 1.0, 10.0):  # which softens the gradient and leaves the draw
        drawn = draw_one((5 + probabilities.log()).expand(20_000, 1, 3), temperature, noisy=True)
        assert set(drawn.flatten().tolist()) == {0.0, 1.0}
        torch.testing.assert_close(drawn.mean((0, 1)), probabilities, rtol=0, atol=0.02)


def test_draws_are_noisy_in_training_only() -> None:
    keys, source = make_keys(choice="gumbel"), random_input(200, SOURCE)
    assert not torch.equal(keys(source), keys(source))
    keys.eval()
    assert torch.equal(keys(source), keys(source))
    soft = copy.deepcopy(keys)
    soft.look_up = LookUp()
    assert torch.equal(keys(source).argmax(2), soft(source).argmax(2))


def test_losses_on_keys_are_their_equations() -> None:
    vectors = random_input(STORES, PROGRAMS, KEY)
    similarity, obliqueness = 0.0, 0.0
    for store in vectors:
        cosines = [
            float(store[i] @ store[j]) / math.sqrt(float(store[i] @ store[i]) * float(store[j] @ store[j]))
            for i in range(PROGRAMS)
            for j in range(i + 1, PROGRAMS)
        ]
        similarity += sum(cosines) / len(cosines)
        squares = [(float(store[i] @ store[j]) - (i == j)) ** 2 for i in range(PROGRAMS) for j in range(PROGRAMS)]
        obliqueness += math.sqrt(sum(squares))
    assert float(key_similarity(vectors)) == pytest.approx(similarity, rel=1e-5)
    assert float(key_obliqueness(vectors)) == pytest.approx(obliqueness)


def test_losses_at_their_ends() -> None:
    same = torch.ones(1, 3, 4, dtype=torch.float64)
    assert float(key_similarity(same)) == pytest.approx(1.0, abs=1e-5)
    assert float(key_similarity(same[:, :1])) == 0.0  # one program has no pair
    orthonormal = torch.eye(4, dtype=torch.float64)[:3].unsqueeze(0).requires_grad_()
    assert key_similarity(orthonormal).item() == 0.0
    loss = key_obliqueness(orthonormal)
    (gradient,) = torch.autograd.grad(loss, orthonormal)
    assert loss.item() == 0.0
    assert not gradient.any()  # rather than not a number


def test_programs_of_an_ntm_begin_small_and_those_of_others_as_heads() -> None:
    """An NTM's by one Xavier range for the matrix of P rows, with the weights and biases of a head in each."""
    interface = StoredProgramInterface(3, 3)
    MemoryCell(LSTMController(4, 50), NTMMemory(8, 10), interface=interface, output_size=2)
    for rows, size in ((slice(16), 16), (slice(16, None), 36)):  # what reads, what writes
        bound = 1.4 * math.sqrt(6 / (3 + size * 51))
        for part in (interface.weight[:, rows], interface.bias[:, rows] if interface.bias is not None else None):
            assert part is not None
            assert 0.8 * bound < float(part.detach().abs().max()) <= bound
    of_dnc = StoredProgramInterface(3, 3)
    MemoryCell(LSTMController(4, 50), EVERY_MEMORY["dnc"](), interface=of_dnc, output_size=2)
    assert float(of_dnc.weight.detach().std()) == pytest.approx(0.1, rel=0.1)
    assert of_dnc.bias is not None
    assert not of_dnc.bias.any()


@pytest.mark.parametrize("penalty", ["similar-keys", "orthogonal-keys"])
def test_minimising_a_loss_pulls_the_keys_apart(penalty: Any) -> None:
    torch.manual_seed(0)
    layer = StoredProgramLinear(5, 3, programs=3, key_size=3, look_up=LookUp(penalty=penalty))
    with torch.no_grad():
        layer.keys.vectors.copy_(1 + 0.1 * torch.randn(1, 3, 3))
    before = key_similarity(layer.keys.vectors).item()
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        sum(layer.losses().values()).backward()  # type: ignore[union-attr]
        optimiser.step()
    assert before > 0.9
    assert key_similarity(layer.keys.vectors).item() < 0.1


def test_keys_begin_apart() -> None:
    keys = StoredProgramLinear(5, 3, programs=3, key_size=3).keys
    assert key_obliqueness(keys.vectors).item() < 1e-5


def test_the_order_of_programs_does_not_matter() -> None:
    torch.manual_seed(0)
    layer = StoredProgramLinear(5, 3, programs=4, key_size=2, dtype=torch.float64)
    other, order = copy.deepcopy(layer), torch.tensor([2, 0, 3, 1])
    with torch.no_grad():
        other.weight.copy_(layer.weight[order])
        assert layer.bias is not None
        assert other.bias is not None
        other.bias.copy_(layer.bias[order])
        other.keys.vectors.copy_(layer.keys.vectors[:, order])
    inputs = random_input(6, 5)
    torch.testing.assert_close(other(inputs), layer(inputs))
    torch.testing.assert_close(other.keys(inputs), layer.keys(inputs)[:, :, order])
    torch.testing.assert_close(other.losses(), layer.losses())


@pytest.mark.parametrize("choice", ["softmax", "gumbel"])
@given(scale=st.sampled_from([0.0, 1e-4, 1.0, 1e4]), zeros=st.sampled_from(["keys", "query", "none"]))
def test_extremes_stay_finite(choice: Any, scale: float, zeros: str) -> None:
    torch.manual_seed(0)
    layer = StoredProgramLinear(5, 3, programs=3, key_size=2, look_up=LookUp(choice=choice))
    with torch.no_grad():
        if zeros == "keys":
            layer.keys.vectors.zero_()
        if zeros == "query":
            layer.keys.query_weight.zero_()
            assert layer.keys.query_bias is not None
            layer.keys.query_bias.zero_()
    inputs = (scale * torch.randn(4, 5)).requires_grad_()
    weights = layer.keys(inputs)
    torch.testing.assert_close(weights.sum(2), torch.ones(4, 1))
    if zeros != "none" and choice == "softmax":
        torch.testing.assert_close(weights, torch.full((4, 1, 3), 1 / 3))
    (layer(inputs).sum() + sum(layer.losses().values())).backward()
    gradients = [inputs.grad, *(parameter.grad for parameter in layer.parameters())]
    assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("memory", EVERY_MEMORY)
def test_trace_shows_the_programs_that_ran(memory: str) -> None:
    interface = StoredProgramInterface(3, 2, look_up=LookUp(choice="gumbel"))
    rnn, inputs = make_rnn(memory, interface), random_input(5, 2, 4)
    torch.manual_seed(1)
    untraced, _ = rnn(inputs)
    torch.manual_seed(1)
    with record_trace(rnn) as trace:
        output, _ = rnn(inputs)
    torch.testing.assert_close(output, untraced)
    stores = len(rnn.cell.memory.head_sizes)
    assert trace.programs.shape == trace["cell"].programs.shape == (5, 2, stores, 3)
    assert not trace.programs.requires_grad
    torch.testing.assert_close(trace.programs.sum(3), torch.ones(5, 2, stores, dtype=torch.float64))
    assert not all(torch.equal(step, trace.programs[0]) for step in trace.programs)  # each step draws its own


def test_a_cell_without_programs_has_none_to_show() -> None:
    rnn = make_rnn("ntm", None)
    with record_trace(rnn) as trace:
        rnn(random_input(2, 1, 4))
    with pytest.raises(UserError, match="this cell stores no programs: give it a StoredProgramInterface"):
        _ = trace.programs


def test_losses_come_with_the_output_when_asked_for() -> None:
    rnn = make_rnn("dnc", StoredProgramInterface(3, 3, look_up=LookUp(penalty="orthogonal-keys")))
    inputs = random_input(4, 2, 4)
    output, state = rnn(inputs)
    asked = rnn(inputs, state, losses=True)
    assert list(asked.losses) == ["interface.orthogonal-keys"]
    torch.testing.assert_close(asked.output, rnn(inputs, state)[0])
    asked.losses["interface.orthogonal-keys"].backward()
    interface = rnn.cell.interface
    assert isinstance(interface, StoredProgramInterface)
    assert interface.keys.vectors.grad is not None
    assert make_rnn("ntm", None)(inputs, losses=True).losses == {}
    assert output.shape == (4, 2, 2)


def test_copies_round_trips_and_half_precision() -> None:
    rnn, inputs = make_rnn("lrua", StoredProgramInterface(2, 2)).float(), torch.randn(3, 2, 4)
    twin = make_rnn("lrua", StoredProgramInterface(2, 2)).float()
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.normal_()
    twin.load_state_dict(rnn.state_dict())
    for other in (twin, copy.deepcopy(rnn)):
        assert torch.equal(other(inputs)[0], rnn(inputs)[0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half, state = rnn(inputs)
    assert state.memory.memory.dtype == torch.float32
    torch.testing.assert_close(half.float(), rnn(inputs)[0], rtol=0.1, atol=0.1)


@pytest.mark.usefixtures("unchecked")
def test_bad_settings_say_what_to_write() -> None:
    for make, message in (
        (lambda: StoredProgramInterface(0, 2), "programs must be at least 1, got 0"),
        (lambda: ProgramKeys(2, 0), "key_size must be at least 1, got 0"),
        (lambda: LookUp(choice="hard"), "choice must be one of softmax, gumbel, got 'hard'"),  # type: ignore[arg-type]
        (lambda: LookUp(temperature=0.0), "temperature must be above 0, got 0.0"),
        (lambda: ProgramKeys(3, 2, LookUp(penalty="orthogonal-keys")), "cannot be orthogonal: write key_size=3"),
    ):
        with pytest.raises(UserError, match=message):
            make()


@pytest.mark.usefixtures("unchecked")
def test_example_stored_programs_learn_switching_regimes_better() -> None:
    example = runpy.run_path(str(EXAMPLE))
    (plain_size, plain_error), (stored_size, stored_error) = example["compare"](seed=0).values()
    assert stored_size <= plain_size
    assert stored_error < plain_error / 5
