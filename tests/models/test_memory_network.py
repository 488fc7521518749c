"""Memory networks against loops over sentences and words; what is hidden from them is not seen."""

from typing import Any

import pytest
import torch
from torch import Tensor

from mnemon import UserError, record_trace
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.models.key_value import KeyValueMemoryNetwork
from mnemon.models.memory_network import MemN2N, Tying
from mnemon.models.sentences import attend, bag_sentences, embed, find_places
from mnemon.models.supporting_facts import MemNN
from mnemon.views import ViewSizes
from tests.models.stories import WORDS, draw_story, draw_views, naive_embed, naive_sentences

SIZE, ANSWERS, SLOTS = 4, 5, 6
FACT_STEPS = 3


def make(kind: str, seed: int = 0, **options: Any) -> Any:
    torch.manual_seed(seed)
    models = {"memn2n": MemN2N, "kv": KeyValueMemoryNetwork, "memnn": MemNN}
    model = models[kind](WORDS, SIZE, ANSWERS, slots=SLOTS, **options).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model.eval()


def steps_of(kind: str) -> int:
    return FACT_STEPS if kind == "memnn" else 1


every_kind = pytest.mark.parametrize("kind", ["memn2n", "kv", "memnn"])


@pytest.mark.parametrize("positions", [True, False])
@pytest.mark.parametrize("slots", [1, 3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_sentences_against_a_loop(positions: bool, slots: int, seed: int) -> None:
    tokens, lengths = draw_story(batch=5, seed=seed)
    weight = torch.randn(WORDS, SIZE, dtype=torch.float64)
    places = find_places(tokens, lengths)
    bags = bag_sentences(tokens, places, slots=slots, words=WORDS, dtype=torch.float64, positions=positions)
    found = embed(bags, weight)
    longest = 1
    for row in range(5):
        sentences = naive_sentences(tokens[: int(lengths[row]), row].tolist())[:slots]
        longest = max([longest, *(slot + 1 for slot, words in enumerate(sentences) if words)])
        for slot in range(found.shape[1]):
            words = sentences[slot] if slot < len(sentences) else []
            assert bool(bags.valid[row, slot]) == bool(words)
            torch.testing.assert_close(found[row, slot], naive_embed(words, weight, positions))
    assert found.shape[1] == longest


def naive_memn2n(model: MemN2N, story: list[int], question: list[int]) -> Tensor:
    """One row, hop by hop and slot by slot."""
    first = model.embeddings[0]
    query = naive_embed(naive_sentences(question)[0], first)
    sentences = naive_sentences(story)[: model.slots]
    for hop in range(model.hops):
        own = (hop, hop + 1) if model.tying == "adjacent" else (0, 1)
        scores, values = [], []
        for age, sentence in enumerate(sentences):
            if sentence:
                keys = naive_embed(sentence, model.embeddings[own[0]]) + model.ages[own[0], age]
                scores.append(query @ keys)
                values.append(naive_embed(sentence, model.embeddings[own[1]]) + model.ages[own[1], age])
        odds = [score.exp() for score in scores]
        read = torch.zeros(SIZE, dtype=torch.float64)
        for odd, value in zip(odds, values, strict=True):
            read = read + odd / sum(odds) * value
        query = read + (query if model.refine is None else model.refine @ query)
    return model.output.weight @ query


@pytest.mark.parametrize("tying", ["adjacent", "layer-wise"])
@pytest.mark.parametrize("hops", [1, 3])
def test_memn2n_against_a_loop(tying: Tying, hops: int) -> None:
    model, (views, lengths) = make("memn2n", tying=tying, hops=hops), draw_views()
    output, _ = model(views, lengths=lengths)
    for row in range(3):
        story, question = (view[: int(own[row]), row].tolist() for view, own in zip(views, lengths, strict=True))
        torch.testing.assert_close(output[0, row], naive_memn2n(model, story, question))


def naive_key_value(model: KeyValueMemoryNetwork, story: list[int], question: list[int]) -> Tensor:
    query = naive_embed(naive_sentences(question)[0], model.embedding)
    for matrix in model.refine:
        odds, values = [], []
        for age, sentence in enumerate(naive_sentences(story)[: model.slots]):
            around = naive_embed(sentence, model.embedding) + model.key_ages[age]
            for word in sentence:
                odds.append((query @ (around + model.centre[word])).exp())
                values.append(model.embedding[word] + model.value_ages[age])
        read = torch.zeros(SIZE, dtype=torch.float64)
        for odd, value in zip(odds, values, strict=True):
            read = read + odd / sum(odds) * value
        query = matrix @ (query + read)
    return model.output.weight @ query


def test_key_value_against_a_loop() -> None:
    model, (views, lengths) = make("kv", hops=2), draw_views()
    output, _ = model(views, lengths=lengths)
    for row in range(3):
        story, question = (view[: int(own[row]), row].tolist() for view, own in zip(views, lengths, strict=True))
        torch.testing.assert_close(output[0, row], naive_key_value(model, story, question))


def naive_memnn(model: MemNN, story: list[int], question: list[int]) -> tuple[list[int], Tensor]:
    """The channels taken one after the other, and the scores of the answers."""
    sentences = naive_sentences(story)[: model.slots]
    asked = naive_sentences(question)[0]
    query, answer = (naive_embed(asked, side.question) for side in (model.finding, model.answering))
    taken = []
    for _ in range(FACT_STEPS - 1):
        scores = {ANSWERS: float(query @ model.enough)}
        for age, sentence in enumerate(sentences):
            if sentence:
                fact = naive_embed(sentence, model.candidate) + model.candidate_ages[age]
                scores[ANSWERS + 1 + age] = float(query @ fact)
        best = max(scores, key=lambda channel: scores[channel])
        taken.append(best)
        if best == ANSWERS:
            break
        age = best - ANSWERS - 1
        query = query + naive_embed(sentences[age], model.finding.fact) + model.finding.ages[age]
        answer = answer + naive_embed(sentences[age], model.answering.fact) + model.answering.ages[age]
    return taken, model.output.weight @ answer


@pytest.mark.parametrize("seed", range(4))
def test_memnn_against_a_loop(seed: int) -> None:
    model, (views, lengths) = make("memnn", seed=seed), draw_views(seed)
    output, _ = model(views, lengths=lengths, steps=FACT_STEPS)
    for row in range(3):
        story, question = (view[: int(own[row]), row].tolist() for view, own in zip(views, lengths, strict=True))
        with torch.no_grad():
            taken, answers = naive_memnn(model, story, question)
        assert output[: len(taken), row].argmax(-1).tolist() == taken
        torch.testing.assert_close(output[-1, row, :ANSWERS], answers)


def test_memnn_goes_on_from_the_right_facts() -> None:
    model, (views, lengths) = make("memnn"), draw_views()
    own, _ = model(views, lengths=lengths, steps=FACT_STEPS)
    right = own.argmax(-1)
    again, _ = model(views, lengths=lengths, steps=FACT_STEPS, targets=right, teacher=1.0)
    torch.testing.assert_close(again, own)
    enough = torch.full_like(right, ANSWERS)
    none, _ = model(views, lengths=lengths, steps=FACT_STEPS, targets=enough, teacher=1.0)
    alone, _ = model(views, lengths=lengths, steps=1)
    torch.testing.assert_close(none[-1], alone[-1])  # the question by itself
    assert not torch.allclose(own[-1, 0], none[-1, 0])


@every_kind
def test_padding_is_not_seen_and_rows_are_as_they_are_alone(kind: str) -> None:
    model, (views, lengths) = make(kind), draw_views()
    steps = steps_of(kind)
    output, _ = model(views, lengths=lengths, steps=steps)
    padded = [torch.cat([view, torch.randint(0, WORDS, (3, 3))]) for view in views]
    for view, own, before in zip(padded, lengths, views, strict=True):
        outside = torch.arange(len(before)).unsqueeze(1) >= own
        view[: len(before)][outside] = torch.randint(0, WORDS, (int(outside.sum()),))
    torch.testing.assert_close(model(padded, lengths=lengths, steps=steps)[0], output)
    order = torch.tensor([2, 0, 1])
    shuffled = model([view[:, order] for view in views], lengths=[own[order] for own in lengths], steps=steps)[0]
    torch.testing.assert_close(shuffled, output[:, order])
    for row in range(3):
        alone = [view[: int(own[row]), row : row + 1] for view, own in zip(views, lengths, strict=True)]
        torch.testing.assert_close(model(alone, steps=steps)[0][:, 0], output[:, row])


@every_kind
def test_an_empty_story_leaves_the_question(kind: str) -> None:
    model, (views, lengths) = make(kind), draw_views()
    nothing = [torch.zeros(0, 3, dtype=torch.int64), views[1]]
    output, _ = model(nothing, steps=steps_of(kind))
    told, _ = model(views, lengths=[torch.zeros(3, dtype=torch.int64), lengths[1]], steps=steps_of(kind))
    torch.testing.assert_close(output, told)
    assert output[-1, :, :ANSWERS].isfinite().all()


@every_kind
def test_older_sentences_than_there_are_slots_are_forgotten(kind: str) -> None:
    model, (views, _) = make(kind), draw_views()
    story = torch.tensor([1, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 1, 0]).unsqueeze(1)  # seven sentences
    changed = story.clone()
    changed[0] = 5
    question = views[1][:, :1]
    before, after = (model([told, question], steps=steps_of(kind))[0] for told in (story, changed))
    assert torch.equal(before, after)
    changed[3] = 8  # of the second
    assert not torch.equal(model([changed, question], steps=steps_of(kind))[0], before)


@every_kind
def test_order_matters_through_ages(kind: str) -> None:
    model, (views, _) = make(kind), draw_views()
    one, two = (torch.tensor(row).unsqueeze(1) for row in ([1, 2, 0, 3, 4, 0], [3, 4, 0, 1, 2, 0]))
    question = views[1][:, :1]

    def both() -> tuple[Tensor, Tensor]:
        answers = [model([told, question], steps=steps_of(kind))[0][-1] for told in (one, two)]
        return answers[0], answers[1]

    assert not torch.allclose(*both())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "ages" in name:
                parameter.zero_()
    torch.testing.assert_close(*both())


def test_gaps_make_sentences_seem_older_while_it_learns() -> None:
    story, question = torch.tensor([1, 0, 2, 0, 3, 0]).unsqueeze(1), torch.tensor([[4], [0]])
    model = make("memn2n", gaps=0.5)
    torch.testing.assert_close(model([story, question])[0], make("memn2n", gaps=0.0)([story, question])[0])
    model.train()
    outputs = {tuple(model([story, question])[0].flatten().tolist()) for _ in range(20)}
    assert len(outputs) > 3
    model.gaps = 0.0
    torch.testing.assert_close(model([story, question])[0], make("memn2n", gaps=0.0)([story, question])[0])


def test_linear_start_leaves_out_the_softmax() -> None:
    query, keys = torch.randn(2, SIZE), torch.randn(2, 3, SIZE)
    valid = torch.tensor([[True, True, False], [False, False, False]])
    weights = attend(query, keys, valid, linear=True)
    torch.testing.assert_close(weights[0, :2], keys[0, :2] @ query[0])
    assert not weights[0, 2].any()
    assert not attend(query, keys, valid)[1].any()
    model, (views, lengths) = make("memn2n", linear_start=0.25), draw_views()
    soft, _ = model(views, lengths=lengths)
    chosen = []
    for step in range(1, 9):
        model.begin_step(step, 8)
        chosen.append(model.linear)
    assert chosen == [True] * 2 + [False] * 6
    model.begin_step(1, 8)
    assert not torch.allclose(model(views, lengths=lengths)[0], soft)


@every_kind
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    model, (views, lengths) = make(kind), draw_views()
    targets = torch.tensor([[ANSWERS + 1] * 3, [ANSWERS] * 3, [0] * 3])
    options: dict[str, Any] = {"lengths": lengths, "steps": steps_of(kind), "targets": targets, "teacher": 1.0}
    names = [name for name, _ in model.named_parameters()]

    def run(*weights: Tensor) -> Tensor:
        output = torch.func.functional_call(model, dict(zip(names, weights, strict=True)), (views,), options)[0]
        return torch.where(output > -1e9, output, 0.0)

    weights = [parameter.detach().clone().requires_grad_() for parameter in model.parameters()]
    assert torch.autograd.gradcheck(run, weights, fast_mode=True)


@every_kind
def test_large_weights_give_no_nan(kind: str) -> None:
    model, (views, lengths) = make(kind), draw_views()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1e4)
    output = model(views, lengths=lengths, steps=steps_of(kind))[0]
    assert not output.isnan().any()
    output[-1, :, :ANSWERS].sum().backward()
    assert not any(part.grad is not None and part.grad.isnan().any() for part in model.parameters())


def one_fact(batch: int, generator: torch.Generator) -> tuple[list[Tensor], Tensor]:
    """People in places, "who where" sentences; the question is a person, the answer where they are last."""
    people, places, told = 3, 4, 5
    who = torch.randint(1, 1 + people, (told, batch), generator=generator)
    where = torch.randint(0, places, (told, batch), generator=generator)
    story = torch.stack([who, where + 1 + people, torch.zeros_like(who)], dim=1).flatten(0, 1)
    asked = who[torch.randint(0, told, (1,), generator=generator)][0]
    last = ((who == asked) * torch.arange(1, told + 1).unsqueeze(1)).argmax(0)
    return [story, torch.stack([asked, torch.zeros_like(asked)])], where[last, torch.arange(batch)]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", ["memn2n", "memn2n-layer-wise", "kv-memn2n"])
def test_it_learns_where_people_are(kind: str) -> None:
    torch.manual_seed(0)
    config = ModelConfig(name=kind, hidden=16, slots=5, hops=1)
    model = build_model(config, ViewSizes((WORDS, WORDS), "sequence"), 4)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-2)
    generator = torch.Generator().manual_seed(0)
    for _ in range(120):
        views, right = one_fact(32, generator)
        loss = torch.nn.functional.cross_entropy(model(views)[0][0], right)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    model.eval()
    views, right = one_fact(500, generator)
    assert (model(views)[0][0].argmax(-1) == right).float().mean() > 0.95


@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_named() -> None:
    model, (views, _lengths) = make("memn2n"), draw_views()
    for bad, message in (
        (lambda: model(views[:1]), "give two views, not 1"),
        (lambda: model(views, [views[0]]), "give it the whole story, and no memories"),
        (lambda: model(views, steps=2), "answers in one step: write steps=1, not 2"),
        (lambda: MemN2N(3, 4, 5, tying="none"), "tying is 'none': write 'adjacent' or 'layer-wise'"),  # type: ignore[arg-type]
        (lambda: MemN2N(3, 4, 5, gaps=1.0), r"gaps is 1.0: write a number from 0 to below 1"),
        (lambda: MemN2N(3, 4, 0), "answers must be at least 1, got 0"),
        (lambda: ModelConfig(name="dnc", hops=2), "model 'dnc' has no hops: leave out hops, or write name='memn2n'"),
        (lambda: ModelConfig(name="memn2n", hops=0), "hops must be at least 1, got 0"),
        (lambda: ModelConfig(name="memn2n", embedding=3), "no embedding with a size of its own: leave out embedding"),
        (lambda: ModelConfig(name="memn2n", layers=2), "model 'memn2n' has one layer: leave out layers"),
        (lambda: ModelConfig(name="kv-memn2n", linear_start=0.1), "leave it out, or write name='memn2n'"),
        (lambda: ModelConfig(name="memn2n", linear_start=1.5), "a share of the steps from 0 to below 1"),
    ):
        with pytest.raises((UserError, ValueError), match=message):
            bad()
    for name, sizes, message in (
        ("memn2n", ViewSizes((3,), "sequence"), "reads a story and a question in the same words"),
        ("kv-memn2n", ViewSizes((3, 4), "sequence"), "write task babi-questions"),
        ("memnn", ViewSizes((3, 3), "sequence"), "write task babi-facts, and slots=50"),
    ):
        with pytest.raises(UserError, match=message):
            build_model(ModelConfig(name=name), sizes, 5)


@pytest.mark.parametrize("slots", [2, 50])
def test_a_trace_has_the_weight_of_each_word_of_the_story(slots: int) -> None:
    """That of its sentence, or its own where words have slots; nothing at ends, beyond a row, or too far back."""
    views, lengths = draw_views()
    network = MemN2N(WORDS, 6, 4, slots=slots, hops=2).eval()
    with record_trace(network) as trace:
        _, weights = network.read(views, lengths)
    assert trace.hops.shape == (2, *views[0].T.shape)
    for row, length in enumerate(lengths[0].tolist()):
        story = views[0][:, row].tolist()
        count = len(naive_sentences(story[:length]))
        for step, word in enumerate(story):
            age = count - 1 - story[:step].count(0)
            told = word and step < length and age < slots
            wanted = weights[:, row, age] if told else torch.zeros(2)
            torch.testing.assert_close(trace.hops[:, row, step], wanted)
    with record_trace(KeyValueMemoryNetwork(WORDS, 6, 4)) as other, record_trace(network) as trace:
        network(views, lengths=lengths)
    assert trace.has_hops
    with pytest.raises(UserError, match="no hops were recorded"):
        _ = other.hops


def test_a_trace_of_keys_and_values_has_the_weights_of_words() -> None:
    views, lengths = draw_views()
    network = KeyValueMemoryNetwork(WORDS, 6, 4).eval()
    with record_trace(network) as trace:
        _, weights = network.read(views, lengths)
    torch.testing.assert_close(trace.hops, weights)
