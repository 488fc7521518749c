"""Encoder-decoders: what goes from view to view, from admission to admission, and from token to token."""

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import UserError, record_trace
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder, concatenate
from mnemon.models.multi_view import OF_VIEWS
from mnemon.state import select
from mnemon.views import ViewSizes

VIEW_MODELS = [name for name in OF_VIEWS if name != "deepcare"]
TOKENS = 7


def make(name: str, views: int = 1, answer: Any = "sequence", seed: int = 0, **sizes: Any) -> Any:
    torch.manual_seed(seed)
    config = ModelConfig(name=name, hidden=5, slots=4, word=3, heads=2, embedding=3, **sizes)
    return build_model(config, ViewSizes((TOKENS,) * views, answer), 6).double()


def draw(views: int, batch: int = 3, steps: int = 4, seed: int = 0) -> tuple[list[Tensor], list[Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    tokens = [torch.randint(0, TOKENS, (steps + number, batch), generator=generator) for number in range(views)]
    lengths = [torch.randint(1, len(view) + 1, (batch,), generator=generator) for view in tokens]
    return tokens, lengths


def cases() -> list[Any]:
    return [
        pytest.param(name, views, answer, id=f"{name}, {views} views, {answer}")
        for name in VIEW_MODELS
        for views in (1, 2, 3)
        for answer in ("sequence", "set")
    ]


every_model = pytest.mark.parametrize(("name", "views", "answer"), cases())


@every_model
def test_engines_agree(name: str, views: int, answer: str) -> None:
    tokens, lengths = draw(views)
    results = []
    for engine in ("auto", "reference"):
        model = make(name, views, answer)
        model.engine = engine
        output, _ = model(tokens, lengths=lengths, steps=5 if answer == "sequence" else 1)
        output.sin().sum().backward()
        results.append((output.detach(), {key: part.grad for key, part in model.named_parameters()}))
    (fast, fast_grads), (slow, slow_grads) = results
    assert fast.shape == ((5 if answer == "sequence" else 1), 3, 6)
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-11)
    for key, grad in slow_grads.items():
        if grad is None:  # of a read-out that a set has no use for, or of the interface of no memory
            assert fast_grads[key] is None or not fast_grads[key].numel()
        else:
            torch.testing.assert_close(fast_grads[key], grad, rtol=1e-9, atol=1e-11, msg=key)


@every_model
def test_a_row_is_as_it_is_alone(name: str, views: int, answer: str) -> None:
    model, (tokens, lengths) = make(name, views, answer), draw(views)
    steps = 4 if answer == "sequence" else 1
    output, _ = model(tokens, lengths=lengths, steps=steps)
    for row in range(3):
        alone = [view[: int(own[row]), row : row + 1] for view, own in zip(tokens, lengths, strict=True)]
        torch.testing.assert_close(model(alone, steps=steps)[0][:, 0], output[:, row])


@pytest.mark.parametrize("name", VIEW_MODELS)
def test_what_is_fed_is_what_was_predicted(name: str) -> None:
    model, (tokens, lengths) = make(name), draw(1)
    output, _ = model(tokens, lengths=lengths, steps=6)
    assert output.requires_grad
    decoder = model.decoders[0]
    encoded = model.encode(tokens, lengths)
    torch.testing.assert_close(decoder.greedy(model.open(encoded), 6), output.argmax(-1))
    with torch.no_grad():
        torch.testing.assert_close(model(tokens, lengths=lengths, steps=6)[0], output)
    taught, _ = model(tokens, lengths=lengths, steps=6, targets=output.argmax(-1), teacher=1.0)
    torch.testing.assert_close(taught, output)


@pytest.mark.parametrize("name", VIEW_MODELS)
def test_a_decoder_without_feedback_sees_no_tokens(name: str) -> None:
    """One that sees them, with an embedding of zeros, is the same."""
    tokens, lengths = draw(1)
    unfed, fed = make(name, feedback=False), make(name)
    fed.load_state_dict(unfed.state_dict(), strict=False)
    torch.nn.init.zeros_(fed.decoders[0].embedding.weight)
    output, _ = unfed(tokens, lengths=lengths, steps=5)
    torch.testing.assert_close(output, fed(tokens, lengths=lengths, steps=5)[0])
    assert sum(part.numel() for part in fed.parameters()) == sum(part.numel() for part in unfed.parameters()) + 6 * 3
    opened = unfed.open(unfed.encode(tokens, lengths))
    decoder = unfed.decoders[0]
    torch.testing.assert_close(decoder.greedy(opened, 5), output.argmax(-1))
    beam = decoder.beam(opened, 5, 1).tokens[..., 0]
    for one, other in zip(
        beam.T.tolist(), output.argmax(-1).T.tolist(), strict=True
    ):  # the same up to the end, which is 0
        assert list(itertools.takewhile(bool, one)) == list(itertools.takewhile(bool, other))
    with pytest.raises(UserError, match="this decoder is fed no tokens"):
        unfed(tokens, lengths=lengths, steps=5, targets=torch.zeros(5, 3, dtype=torch.int64), teacher=0.5)


@pytest.mark.parametrize("teacher", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", VIEW_MODELS)
def test_steps_that_are_not_asked_for_are_not_taken_while_learning(name: str, teacher: float) -> None:
    tokens, lengths = draw(2)
    asked = torch.arange(6).unsqueeze(1) < torch.tensor([2, 6, 0])
    right = torch.randint(0, 6, (6, 3), generator=torch.Generator().manual_seed(1))
    outputs, gradients = [], []
    for given in (asked, None):
        model = make(name, 2)
        torch.manual_seed(3)  # of the draws of right tokens
        output, _ = model(tokens, lengths=lengths, steps=6, targets=right, teacher=teacher, asked=given)
        (output.sin() * asked.unsqueeze(2)).sum().backward()
        outputs.append(output.detach())
        gradients.append([part.grad for part in model.parameters() if part.grad is not None])
        with torch.no_grad():
            torch.manual_seed(3)
            whole, _ = model(tokens, lengths=lengths, steps=6, targets=right, teacher=teacher, asked=given)
        assert (whole != 0).any(2).all()
    torch.testing.assert_close(outputs[0], outputs[1] * asked.unsqueeze(2))
    torch.testing.assert_close(*gradients)


def test_right_tokens_are_fed_as_often_as_asked() -> None:
    model, (tokens, lengths) = make("dcw-mann"), draw(1)
    own = model(tokens, lengths=lengths, steps=6)[0]
    wrong = (own.argmax(-1) + 1) % 6
    taught = model(tokens, lengths=lengths, steps=6, targets=wrong, teacher=1.0)[0]
    torch.testing.assert_close(taught[0], own[0])  # nothing is fed yet
    assert (taught[1:] != own[1:]).any(-1).all()
    torch.manual_seed(3)
    sometimes = model(tokens, lengths=lengths, steps=6, targets=wrong, teacher=0.5)[0]
    torch.manual_seed(3)
    again = model(tokens, lengths=lengths, steps=6, targets=wrong, teacher=0.5)[0]
    torch.testing.assert_close(sometimes, again)
    assert not torch.allclose(sometimes, own)
    assert not torch.allclose(sometimes, taught)


def test_one_view_of_a_dual_memory_is_the_write_protected_dual_controller() -> None:
    tokens, lengths = draw(1)
    late, dual = (make(name)(tokens, lengths=lengths, steps=5)[0] for name in ("dmnc-late", "dcw-mann"))
    assert torch.equal(late, dual)


@pytest.mark.parametrize("name", ["dmnc-late", "dmnc-early"])
def test_only_early_fusion_reads_the_other_view(name: str) -> None:
    model, (tokens, _) = make(name, views=2), draw(2)
    changed = [tokens[0], (tokens[1] + 1) % TOKENS]
    before, after = (model.encode(views) for views in (tokens, changed))
    same = torch.equal(before.outputs[0], after.outputs[0])
    assert same == (name == "dmnc-late")
    reads = [encoded.memories[0].reads for encoded in (before, after)]
    assert torch.equal(*reads) == (name == "dmnc-late")
    first = torch.equal(before.outputs[0][0], after.outputs[0][0])
    assert first  # view 1 goes first, and has read nothing of view 2 yet


def test_early_fusion_writes_its_own_slots_only() -> None:
    model, (tokens, lengths) = make("dmnc-early", views=3), draw(3)
    with record_trace(model.encoder) as trace, torch.no_grad():
        model.encode(tokens, lengths)
    for number in range(3):
        cell = trace[f"views.{number}.rnn.cell"]
        written = cell.state.memory.write_weights
        others = [slot for slot in range(12) if slot // 4 != number]
        active = torch.arange(len(written)).unsqueeze(1) < lengths[number]
        assert (written[..., number * 4 : number * 4 + 4].sum(-1) > 0)[active].all()
        assert (written[..., others] == 0)[active].all()


def test_early_fusion_links_what_one_view_wrote() -> None:
    model, (tokens, _) = make("dmnc-early", views=2), draw(2)
    with torch.no_grad():
        left = model.encode(tokens).memories
    for own, memory in ((slice(0, 4), left[0].memory), (slice(4, 8), left[1].memory)):
        others = torch.ones(8, dtype=torch.bool).index_fill_(0, torch.arange(8)[own], False)
        assert (memory.links[:, own, own].sum((1, 2)) > 0.01).all()
        assert (memory.links[:, own][..., others] == 0).all()
        assert (memory.precedence[:, own].sum(1) > 0).all()
        assert (memory.precedence[:, others] == 0).all()


@pytest.mark.parametrize("name", ["dcw-mann", "dmnc-late", "dmnc-early", "dnc-single"])
def test_memories_persist_until_they_are_left_out(name: str) -> None:
    model, (tokens, lengths) = make(name, answer="set"), draw(1)
    first, memories = model(tokens, lengths=lengths)
    second, after = model(tokens, memories, lengths=lengths)
    assert not torch.allclose(first, second)  # the same admission again
    contents = [state[0].memory if name == "dmnc-early" else state[0] for state in (memories, after)]
    assert not torch.allclose(contents[0].memory, contents[1].memory)
    torch.testing.assert_close(model(tokens, lengths=lengths)[0], first)  # another patient
    one, _ = model([view[:, 1:2] for view in tokens], [select(memories[0], 1)], lengths=[own[1:2] for own in lengths])
    torch.testing.assert_close(one[:, 0], second[:, 1])  # no patient sees another's


@pytest.mark.parametrize("name", ["dmnc-late", "dmnc-early", "seq2seq-attention"])
def test_a_view_may_be_empty(name: str) -> None:
    model, (tokens, lengths) = make(name, views=2), draw(2)
    lengths[1] = torch.tensor([0, 2, 0])
    output, _ = model(tokens, lengths=lengths, steps=3)
    assert output.isfinite().all()
    other = [tokens[0], (tokens[1] + 1) % TOKENS]
    torch.testing.assert_close(model(other, lengths=lengths, steps=3)[0][:, [0, 2]], output[:, [0, 2]])


@pytest.mark.parametrize("name", ["dmnc-early", "seq2seq-attention"])
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    model, (tokens, lengths) = make(name, views=2), draw(2, batch=2, steps=2)
    targets = torch.zeros(2, 2, dtype=torch.int64)
    embedding = model.encoder.views[0].embedding.weight

    def run(weight: Tensor) -> Tensor:
        given = {"encoder.views.0.embedding.weight": weight}
        keywords = {"lengths": lengths, "steps": 2, "targets": targets, "teacher": 1.0}
        output: Tensor = torch.func.functional_call(model, given, (tokens,), keywords)[0]
        return output

    model.engine = "reference"
    assert torch.autograd.gradcheck(run, (embedding.detach().requires_grad_(),), fast_mode=True)


def test_a_beam_of_one_is_greedy() -> None:
    model, (tokens, lengths) = make("dcw-mann"), draw(1)
    decoder = model.decoders[0]
    with torch.no_grad():
        decoder.rnn.cell.readout_bias[0] = -9  # never the end
    encoded = model.open(model.encode(tokens, lengths))
    assert torch.equal(decoder.beam(encoded, 5, 1).tokens[..., 0], decoder.greedy(encoded, 5))


def test_a_wide_beam_finds_the_likeliest_answers() -> None:
    model, (tokens, lengths) = make("dmnc-late", views=2, seed=4), draw(2, batch=2)
    decoder, steps = model.decoders[0], 3
    encoded = model.open(model.encode(tokens, lengths))
    found = decoder.beam(encoded, steps, width=6**steps)
    of_rows: list[dict[tuple[int, ...], float]] = [{}, {}]
    for answer in itertools.product(range(6), repeat=steps):
        until = answer[: answer.index(0) + 1] if 0 in answer else answer
        ended = (*until, *(0,) * (steps - len(until)))
        if ended in of_rows[0]:
            continue
        with torch.no_grad():
            given = torch.tensor(answer).unsqueeze(1).expand(steps, 2)
            logs = torch.log_softmax(decoder(encoded, steps, targets=given, teacher=1.0), dim=-1)
        for row, odds in enumerate(of_rows):
            odds[ended] = float(sum(logs[step, row, token] for step, token in enumerate(until)))
    for row, odds in enumerate(of_rows):
        best = sorted(odds, key=lambda answer: -odds[answer])[:5]
        assert [tuple(found.tokens[:, row, place].tolist()) for place in range(5)] == best
        torch.testing.assert_close(found.scores[row, :5].tolist(), [odds[answer] for answer in best])


def test_several_answers() -> None:
    first, second = make("dcw-mann"), make("dcw-mann", answer="set", seed=1)
    model = EncoderDecoder(first.encoder, [first.decoders[0], second.decoders[0]])
    tokens, lengths = draw(1)
    (sequence, labels), _ = model(tokens, lengths=lengths, steps=(4, 1))
    assert (sequence.shape, labels.shape) == ((4, 3, 6), (1, 3, 6))
    torch.testing.assert_close(sequence, first(tokens, lengths=lengths, steps=4)[0])


def test_views_in_a_row_leave_no_gap() -> None:
    first, second = torch.tensor([[1, 2], [3, 0]]), torch.tensor([[4, 5], [6, 0], [0, 0]])
    joined, lengths = concatenate([first, second], [torch.tensor([2, 1]), torch.tensor([2, 1])], (10, 10))
    assert joined.T.tolist() == [[1, 3, 14, 16], [2, 15, 0, 0]]
    assert lengths.tolist() == [4, 2]
    assert isinstance(make("dnc-single", views=2), Concatenated)
    assert not isinstance(make("dnc-single", views=1), Concatenated)


def test_feed_forward_encoders_have_a_recurrent_decoder_after_all() -> None:
    model = make("dmnc-late", views=2, answer="set", controller="feed-forward")
    tokens, lengths = draw(2)
    model(tokens, lengths=lengths)[0].sum().backward()
    assert model.encoder.views[1].embedding.weight.grad.abs().sum() > 0


def test_mistakes_are_named() -> None:
    model, (tokens, lengths) = make("dmnc-late", views=2), draw(2)
    with pytest.raises(UserError, match="this model reads 2 views: got 1"):
        model(tokens[:1], lengths=lengths[:1])
    with pytest.raises(UserError, match="reads one view, not 2: write dmnc-late or dmnc-early"):
        make("vmed", views=2)
    with pytest.raises(UserError, match="model 'ntm' reads one sequence of numbers, which this task has not"):
        build_model(ModelConfig(name="ntm"), ViewSizes((3,), "set"), 4)
    with pytest.raises(UserError, match="model 'dcw-mann' reads views of tokens, which this task has not"):
        build_model(ModelConfig(name="dcw-mann"), 3, 4)
    with pytest.raises(UserError, match="embeds no tokens"):
        ModelConfig(name="ntm", embedding=3)
    with pytest.raises(UserError, match="says itself when it writes"):
        ModelConfig(name="dcw-mann", writing="uniform", interval=3)
    with pytest.raises(UserError, match="a set is answered in one step"):
        make("dcw-mann", answer="set")(tokens[:1], steps=2)
    with pytest.raises(UserError, match="needs at least one decoder"):
        EncoderDecoder(model.encoder, [])
