"""Words of brackets against a stack of Python's, and how they are drawn, scored and written."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import Brackets
from mnemon.tasks.brackets import draw_openings


@given(st.integers(1, 5), st.integers(1, 9), st.integers(1, 4), st.integers(0, 1000))
def test_against_a_stack(kinds: int, pairs: int, rows: int, seed: int) -> None:
    task = Brackets(kinds=kinds, min_pairs=pairs, max_pairs=pairs)
    batch = task.sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == (2 * pairs, rows, 2 * kinds)
    assert torch.equal(batch.inputs.sum(-1), torch.ones(2 * pairs, rows))
    for row in range(rows):
        stack: list[int] = []
        for step in range(2 * pairs):
            bracket = int(batch.inputs[step, row].argmax())
            if bracket < kinds:
                stack.append(bracket)
            else:
                assert stack.pop() == bracket - kinds
            target = stack[-1] + 1 if stack else 0
            assert batch.targets[step, row].tolist() == [float(number == target) for number in range(kinds + 1)]
            assert bool(batch.mask[step, row]) == (bracket >= kinds)
        assert not stack


def test_all_words_are_equally_likely() -> None:
    opens = draw_openings(4, 14_000, torch.Generator().manual_seed(0))
    counts = Counter("".join("(" if bracket else ")" for bracket in word) for word in opens.T.tolist())
    assert len(counts) == 14  # the fourth Catalan number
    assert all(abs(count - 1_000) < 5 * 30 for count in counts.values())


def test_lengths_are_drawn_between_the_ends() -> None:
    task, generator = Brackets(min_pairs=2, max_pairs=4), torch.Generator().manual_seed(0)
    assert {len(task.sample(1, generator).inputs) for _ in range(50)} == {4, 6, 8}


def test_a_wrong_bracket_spoils_its_word() -> None:
    task = Brackets(kinds=2, min_pairs=3, max_pairs=3)
    batch = task.sample(4, torch.Generator().manual_seed(0))
    assert task.metrics(batch.targets, batch) == {"accuracy": 1.0, "word_accuracy": 1.0}
    output = batch.targets.clone()
    output[-1, 0] *= -1
    assert task.metrics(output, batch) == {"accuracy": pytest.approx(1 - 1 / 12), "word_accuracy": 0.75}
    assert float(task.loss(20 * batch.targets, batch)) < 1e-6


def test_rendering() -> None:
    task = Brackets(kinds=2, min_pairs=3, max_pairs=3)
    generator, word = torch.Generator().manual_seed(0), ""
    while word != "([])[]":
        batch = task.sample(1, generator)
        word = task.render(batch).splitlines()[1].split()[1]
    output = batch.targets.clone()
    output[2, 0] *= -1
    assert task.render(batch, 0, output).splitlines() == [
        "asked   ··▲▲·▲",
        "input   ([])[]",
        "target    )– –",
        "answer    ×– –",
        "1 of 3 brackets wrong",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kinds": 0}, "Brackets(kinds=0): write kinds=1 or more"),
        ({"kinds": 31}, "Brackets(kinds=31): write kinds=30 or less"),
        ({"min_pairs": 0}, "Brackets(min_pairs=0): write min_pairs=1 or more"),
        ({"min_pairs": 5, "max_pairs": 4}, "Brackets(min_pairs=5, max_pairs=4): write max_pairs=5 or more"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(UserError) as raised:
        Brackets(**settings)
    assert str(raised.value).startswith(message)
