import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks import Batch, MultiQueryRecall


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def newest(task: MultiQueryRecall, batch: Batch) -> list[list[int]]:
    """The newest token of each step, row by row."""
    shown = batch.inputs[..., : task.output_size]
    assert (shown.sum(-1) == 1).all()
    return shown.argmax(-1).T.tolist()


@pytest.mark.parametrize("pairs", [1, 3, 5])
def test_every_key_is_asked_for_its_value(pairs: int) -> None:
    task = MultiQueryRecall(keys=5, values=3, min_pairs=pairs, max_pairs=pairs)
    batch = task.sample(20, generator())
    assert batch.inputs.shape == (3 * pairs, 20, 16)
    assert batch.targets.shape == (3 * pairs, 20, 8)
    assert (batch.mask[: 2 * pairs] == 0).all()
    assert (batch.mask[2 * pairs :] == 1).all()
    for row, tokens in enumerate(newest(task, batch)):
        keys, values, asked = tokens[: 2 * pairs : 2], tokens[1 : 2 * pairs : 2], tokens[2 * pairs :]
        assert all(key < 5 for key in keys)
        assert all(5 <= value < 8 for value in values)
        assert sorted(asked) == sorted(keys)
        assert len(set(keys)) == pairs
        stored = dict(zip(keys, values, strict=True))
        assert batch.targets[2 * pairs :, row].argmax(-1).tolist() == [stored[key] for key in asked]
    assert (batch.targets.sum(-1) == batch.mask).all()


@pytest.mark.parametrize("context", [1, 2, 4])
def test_a_step_shows_the_last_tokens(context: int) -> None:
    task = MultiQueryRecall(keys=4, values=2, min_pairs=3, max_pairs=3, context=context)
    batch = task.sample(2, generator())
    assert task.input_size == 6 * context
    parts = batch.inputs.view(9, 2, context, 6)
    for step in range(9):
        for back in range(context):
            expected = parts[step - back, :, 0] if step >= back else torch.zeros(2, 6)
            assert torch.equal(parts[step, :, back], expected)


def test_numbers_of_pairs_orders_and_rows_vary() -> None:
    task = MultiQueryRecall(keys=8, values=4, min_pairs=2, max_pairs=4)
    steps = {len(task.sample(1, generator(seed)).inputs) for seed in range(40)}
    assert steps == {6, 9, 12}
    rows = newest(task, task.sample(30, generator()))
    assert len({tuple(row) for row in rows}) == 30
    same, again = (task.sample(3, generator(5)) for _ in range(2))
    assert torch.equal(same.inputs, again.inputs)
    assert torch.equal(same.targets, again.targets)


def test_scores() -> None:
    task = MultiQueryRecall(keys=4, values=2, min_pairs=4, max_pairs=4)
    batch = task.sample(5, generator())
    right = 20 * batch.targets
    assert task.metrics(right, batch) == {"accuracy": 1.0}
    assert task.loss(right, batch) < 1e-6
    wrong = right.clone()
    wrong[-1] = right[-1].roll(1, dims=-1)
    assert task.metrics(wrong, batch)["accuracy"] == pytest.approx(0.75)


def test_text() -> None:
    task = MultiQueryRecall(keys=4, values=2, min_pairs=2, max_pairs=2)
    batch = task.sample(1, generator())
    (tokens,) = newest(task, batch)
    answers = batch.targets[4:, 0].argmax(-1).tolist()
    output = batch.targets.clone()
    output[5] = output[5].flip(-1)
    assert task.render(batch, 0, output).splitlines() == [
        "asked          ····▲▲",
        f"input   token  {''.join(map(str, tokens))}",
        f"target  token      {answers[0]}{answers[1]}",
        f"answer  token      {answers[0]}×",
        "1 of 2 tokens wrong",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keys": 0}, r"MultiQueryRecall\(keys=0\): write keys=1 or more"),
        ({"context": 0}, r"MultiQueryRecall\(context=0\): write context=1 or more"),
        ({"min_pairs": 9}, r"MultiQueryRecall\(min_pairs=9, max_pairs=8\): write max_pairs=9 or more"),
        ({"keys": 7}, r"MultiQueryRecall\(max_pairs=8\): write 7 or less, no key comes twice"),
    ],
)
def test_bad_settings(settings: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        MultiQueryRecall(**settings)
