import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import Add, Double, Max, Reverse, TokenCopy, TokenTask

KINDS: list[type[TokenTask]] = [TokenCopy, Double, Reverse, Add, Max]


def expected(kind: type[TokenTask], x: list[int]) -> list[int]:
    """The appendix's table, corrected, for tokens x[1] to x[T]; x[0] is not one."""
    length = len(x) - 1
    if kind is TokenCopy:
        return [x[t] for t in range(1, length + 1)]
    if kind is Double:
        return [x[t] for _ in range(2) for t in range(1, length + 1)]
    if kind is Reverse:
        return [x[t] for t in range(length, 0, -1)]
    if kind is Add:
        return [(x[t] + x[length + 1 - t]) // 2 for t in range(1, length // 2 + 1)]
    return [max(x[2 * t - 1], x[2 * t]) for t in range(1, length // 2 + 1)]


@given(st.sampled_from(KINDS), st.integers(2, 9), st.integers(1, 60), st.integers(1, 4), st.integers(0, 1000))
def test_against_a_loop(kind: type[TokenTask], length: int, largest: int, rows: int, seed: int) -> None:
    batch = kind(length=length, largest=largest).sample(rows, torch.Generator().manual_seed(seed))
    steps = len(batch.inputs)
    inputs, targets = torch.zeros(steps, rows, largest + 1), torch.zeros(steps, rows, largest + 1)
    mask = torch.zeros(steps, rows)
    for b in range(rows):
        tokens = [0]
        for t in range(length):
            tokens.append(batch.inputs[t, b].tolist().index(1.0))
            assert 1 <= tokens[-1] <= largest
            inputs[t, b, tokens[-1]] = 1
        inputs[length, b, 0] = 1
        answer = [*expected(kind, tokens), 0]
        assert steps == length + 1 + len(answer)
        for t, token in enumerate(answer):
            targets[length + 1 + t, b, token] = 1
            mask[length + 1 + t, b] = 1
    assert torch.equal(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)


EXAMPLES: dict[type[TokenTask], list[int]] = {
    TokenCopy: [3, 1, 4, 1, 5],
    Double: [3, 1, 4, 1, 5, 3, 1, 4, 1, 5],
    Reverse: [5, 1, 4, 1, 3],
    Add: [4, 1],
    Max: [3, 4],
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_by_hand(kind: type[TokenTask]) -> None:
    tokens = torch.tensor([3, 1, 4, 1, 5]).unsqueeze(1)
    assert kind(length=5).answer(tokens).squeeze(1).tolist() == EXAMPLES[kind]


def test_add_rounds_down() -> None:
    assert Add(length=2).answer(torch.tensor([[2, 9], [3, 8]])).tolist() == [[2, 8]]


@pytest.mark.parametrize(("kind", "largest"), [(TokenCopy, 9), (Max, 50)])
def test_every_token_is_drawn_equally_often(kind: type[TokenTask], largest: int) -> None:
    task = kind(length=100)
    assert (task.input_size, task.output_size) == (largest + 1, largest + 1)
    shown = task.sample(20 * largest, torch.Generator().manual_seed(0)).inputs[:100]
    counts = shown.sum((0, 1))
    assert counts[0] == 0
    assert counts[1:].tolist() == pytest.approx([2000] * largest, rel=0.1)


def test_rendering() -> None:
    task = TokenCopy(length=3)
    batch = task.sample(1, torch.Generator().manual_seed(0))
    tokens = batch.targets[4:, 0].argmax(-1).tolist()
    a, b, c, end = tokens
    assert end == 0
    output = batch.targets.clone()
    output[5, 0] = -output[5, 0]
    assert task.render(batch, 0, output).splitlines() == [
        "asked          ····▲▲▲▲",
        f"input   token  {a}{b}{c}0····",
        f"target  token      {a}{b}{c}0",
        f"answer  token      {a}×{c}0",
        "1 of 4 tokens wrong",
    ]


def test_large_tokens_are_rendered_apart() -> None:
    task = Max(length=2)
    batch = task.sample(1, torch.Generator().manual_seed(0))
    a, b = batch.inputs[:2, 0].argmax(-1).tolist()
    assert task.render(batch, 0).splitlines() == [
        "asked            ·  ·  ·  ▲  ▲",
        f"input   token  {a:3}{b:3}  0  ·  ·",
        f"target  token           {max(a, b):3}  0",
    ]


def test_lengths_may_vary() -> None:
    task, generator = Reverse(length=4, min_length=2), torch.Generator().manual_seed(0)
    assert {len(task.sample(1, generator).inputs) for _ in range(50)} == {6, 8, 10}
    fixed = Reverse(length=4, min_length=4).sample(3, torch.Generator().manual_seed(1))
    assert len(fixed.inputs) == 10


def test_a_shortest_length_above_the_longest_is_refused() -> None:
    with pytest.raises(UserError, match=r"^Reverse\(min_length=5, length=4\): write length=5 or more"):
        Reverse(length=4, min_length=5)
