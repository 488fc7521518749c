"""Transformers: what a step may see, split and whole sequences, and answers that are fed back."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import UserError
from mnemon.ehr.runs import sizes_for
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.transformer import CausalTransformer, waves
from mnemon.models.transformer_views import TransformerEncoderDecoder
from mnemon.state import select
from mnemon.tasks import Reverse
from mnemon.views import ViewSizes

TOKENS, OUTPUTS = 7, 6


def causal(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    model = build_model(ModelConfig(name="transformer", heads=2, word=3, hidden=5), 4, 2).double()
    assert isinstance(model, CausalTransformer)
    return model


def of_views(views: int = 2, answer: Any = "sequence", seed: int = 0) -> Any:
    torch.manual_seed(seed)
    config = ModelConfig(name="transformer-encoder-decoder", heads=2, word=3, hidden=5, layers=1)
    model = build_model(config, ViewSizes((TOKENS,) * views, answer), OUTPUTS).double()
    assert isinstance(model, TransformerEncoderDecoder)
    return model


def draw(views: int = 2, batch: int = 3) -> tuple[list[Tensor], list[Tensor]]:
    generator = torch.Generator().manual_seed(0)
    tokens = [torch.randint(0, TOKENS, (4 + number, batch), generator=generator) for number in range(views)]
    lengths = [torch.randint(1, len(view) + 1, (batch,), generator=generator) for view in tokens]
    lengths[0][-1] = 0
    return tokens, lengths


def attention(queries: Tensor, keys: Tensor, values: Tensor, heads: int) -> Tensor:
    """softmax(Q Kᵀ / √d_k) V of each head, one number at a time; later keys are not seen."""
    steps, size = queries.shape
    width = size // heads
    out = torch.zeros(steps, size, dtype=queries.dtype)
    for head in range(heads):
        own = range(head * width, (head + 1) * width)
        for t in range(steps):
            odds = [
                math.exp(sum(float(queries[t, i] * keys[s, i]) for i in own) / math.sqrt(width)) for s in range(t + 1)
            ]
            for i in own:
                out[t, i] = sum(odd * float(values[s, i]) for s, odd in enumerate(odds)) / sum(odds)
    return out


def test_multi_head_attention_against_a_loop() -> None:
    """That torch's attention, with our mask, is the thesis's equation."""
    layer = causal().encoder.layers[0].self_attn
    steps = torch.randn(5, 6, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_bias.normal_()
        queries, keys, values = (steps @ layer.in_proj_weight.T + layer.in_proj_bias).chunk(3, dim=1)
        expected = attention(queries, keys, values, 2) @ layer.out_proj.weight.T + layer.out_proj.bias
        mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
        batch = steps.unsqueeze(0)
        torch.testing.assert_close(layer(batch, batch, batch, attn_mask=mask)[0][0], expected)


@pytest.mark.parametrize("size", [1, 4, 5])
def test_waves_against_a_loop(size: int) -> None:
    found = waves(torch.arange(6), size, torch.float64)
    for place in range(6):
        for number in range(size):
            angle = place / 10_000 ** (2 * (number // 2) / size)
            assert float(found[place, number]) == pytest.approx(math.cos(angle) if number % 2 else math.sin(angle))


def test_a_step_sees_no_later_one() -> None:
    model = causal()
    inputs = torch.randn(6, 2, 4, dtype=torch.float64, requires_grad=True)
    for step in range(6):
        (grad,) = torch.autograd.grad(model(inputs)[0][step].sum(), inputs)
        assert not grad[step + 1 :].any()
        assert grad[: step + 1].abs().sum(-1).gt(0).all()


@pytest.mark.parametrize("evaluated", [False, True])
def test_padding_is_not_seen_and_outputs_zero(evaluated: bool) -> None:
    """Also on the path that torch takes without gradients."""
    model, lengths = causal().train(not evaluated), torch.tensor([6, 0, 3])
    inputs = torch.randn(6, 3, 4, dtype=torch.float64)
    with torch.set_grad_enabled(not evaluated):
        output, _ = model(inputs, lengths=lengths)
        other = torch.where(torch.arange(6).view(6, 1, 1) < lengths.view(1, 3, 1), inputs, 9.0)
        torch.testing.assert_close(model(other, lengths=lengths)[0], output)
        torch.testing.assert_close(model(inputs[:3, 2:])[0], output[:3, 2:])
    assert not output[:, 1].any()
    assert not output[3:, 2].any()


def test_split_is_as_whole_for_rows_of_any_length() -> None:
    model = causal()
    inputs = torch.randn(7, 3, 4, dtype=torch.float64)
    first, second = torch.tensor([4, 2, 0]), torch.tensor([3, 0, 2])
    before, state = model(inputs[:4], lengths=first)
    after, state = model(inputs[4:], state, lengths=second)
    whole, _ = model(inputs[:, :1])
    torch.testing.assert_close(torch.cat([before, after])[:, :1], whole)
    alone, _ = model(inputs[4:6, 2:])
    torch.testing.assert_close(after[:2, 2:], alone)  # a row that begins in the second part
    one, _ = model(inputs[:1, :1], select(state, 0))
    both, _ = model(inputs[:1], state)
    torch.testing.assert_close(one, both[:, :1])


@pytest.mark.parametrize("answer", ["sequence", "set"])
def test_a_row_is_as_it_is_alone(answer: str) -> None:
    model, (tokens, lengths) = of_views(answer=answer), draw()
    steps = 4 if answer == "sequence" else 1
    output, _ = model(tokens, lengths=lengths, steps=steps)
    assert output.shape == (steps, 3, OUTPUTS)
    for row in range(3):
        alone = [view[: int(own[row]), row : row + 1] for view, own in zip(tokens, lengths, strict=True)]
        torch.testing.assert_close(model(alone, steps=steps)[0][:, 0], output[:, row])
    model.eval()
    with torch.no_grad():
        torch.testing.assert_close(model(tokens, lengths=lengths, steps=steps)[0], output)


def test_what_is_fed_is_what_was_predicted() -> None:
    model, (tokens, lengths) = of_views(), draw()
    output, _ = model(tokens, lengths=lengths, steps=6)
    assert output.requires_grad
    torch.testing.assert_close(model.greedy(model.encode(tokens, lengths), 6), output.argmax(-1))
    taught, _ = model(tokens, lengths=lengths, steps=6, targets=output.argmax(-1), teacher=1.0)
    torch.testing.assert_close(taught, output)
    wrong = (output.argmax(-1) + 1) % OUTPUTS
    taught, _ = model(tokens, lengths=lengths, steps=6, targets=wrong, teacher=1.0)
    torch.testing.assert_close(taught[0], output[0])  # nothing is fed yet
    assert (taught[1:] != output[1:]).any(-1).all()
    torch.manual_seed(3)
    sometimes, _ = model(tokens, lengths=lengths, steps=6, targets=wrong, teacher=0.5)
    assert not torch.allclose(sometimes, output)
    assert not torch.allclose(sometimes, taught)


def test_an_answer_does_not_see_its_own_future() -> None:
    model, (tokens, lengths) = of_views(), draw()
    right = torch.zeros(5, 3, dtype=torch.int64)
    before, _ = model(tokens, lengths=lengths, steps=5, targets=right, teacher=1.0)
    right[2] = 3
    after, _ = model(tokens, lengths=lengths, steps=5, targets=right, teacher=1.0)
    assert torch.equal(before[:3], after[:3])
    assert not torch.allclose(before[3:], after[3:])


def test_what_was_encoded_before_can_be_attended_to() -> None:
    model, (tokens, lengths) = of_views(answer="set"), draw()
    _, memories = model(tokens, lengths=lengths)
    later = [(view + 1) % TOKENS for view in tokens]
    with_past, after = model(later, memories, lengths=lengths)
    assert not torch.allclose(with_past, model(later, lengths=lengths)[0])
    assert after[0].values.shape[1] == 2 * memories[0].values.shape[1]
    one, _ = model([view[:, 1:2] for view in later], [select(memories[0], 1)], lengths=[own[1:2] for own in lengths])
    torch.testing.assert_close(one[:, 0], with_past[:, 1])  # no row sees another's
    (grad,) = torch.autograd.grad(with_past.sum(), memories[0].values, allow_unused=True)
    assert grad is None  # cut between the calls


def test_gradients_are_those_of_finite_differences() -> None:
    model, (tokens, lengths) = of_views(), draw()
    targets = torch.zeros(2, 3, dtype=torch.int64)
    names = [
        "embeddings.0.weight",
        "begin",
        "start",
        "answers.weight",
        "decoder.layers.0.multihead_attn.in_proj_weight",
    ]
    parameters = dict(model.named_parameters())

    def run(*weights: Tensor) -> Tensor:
        given = dict(zip(names, weights, strict=True))
        options = {"lengths": lengths, "steps": 2, "targets": targets, "teacher": 1.0}
        output: Tensor = torch.func.functional_call(model, given, (tokens,), options)[0]
        return output

    weights = [parameters[name].detach().clone().requires_grad_() for name in names]
    assert torch.autograd.gradcheck(run, weights, fast_mode=True)


def test_large_inputs_and_single_steps() -> None:
    model = causal()
    assert model(torch.full((1, 1, 4), 1e4, dtype=torch.float64))[0].isfinite().all()
    assert model(torch.full((3, 2, 4), -1e4, dtype=torch.float64))[0].isfinite().all()
    assert model(torch.zeros(0, 2, 4, dtype=torch.float64))[0].shape == (0, 2, 2)


@pytest.mark.usefixtures("unchecked")
def test_it_learns_to_reverse() -> None:
    torch.manual_seed(0)
    task = Reverse(length=3, largest=3)
    config = ModelConfig(name="transformer", heads=2, word=8, hidden=32, layers=2)
    model = build_model(config, task.input_size, task.output_size)
    optimiser, generator = torch.optim.Adam(model.parameters(), lr=1e-2), torch.Generator().manual_seed(0)
    for _ in range(150):
        batch = task.sample(32, generator)
        loss = task.loss(model(batch.inputs)[0], batch)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    batch = task.sample(200, generator)
    assert task.metrics(model(batch.inputs)[0], batch)["accuracy"] > 0.95


def test_it_is_built_for_health_records_too() -> None:
    sizes = sizes_for("set", "transformer-encoder-decoder", views=2)
    assert (sizes.embedding, sizes.word, sizes.heads) == (None, 64, 1)
    model = build_model(sizes, ViewSizes((TOKENS,) * 2, "set"), OUTPUTS)
    assert model(draw()[0])[0].shape == (1, 3, OUTPUTS)


def test_mistakes_are_named() -> None:
    model, (tokens, lengths) = of_views(), draw()
    with pytest.raises(UserError, match="this model reads 2 views: got 1, and lengths of 1"):
        model(tokens[:1], lengths=lengths[:1])
    with pytest.raises(UserError, match="a set is answered in one step: write steps=1, not 2"):
        of_views(answer="set")(tokens, steps=2)
    with pytest.raises(UserError, match="has no embedding with a size of its own: leave out embedding"):
        ModelConfig(name="transformer-encoder-decoder", embedding=3)
    with pytest.raises(UserError, match="layers must be at least 1, got 0"):
        ModelConfig(name="transformer", layers=0)
