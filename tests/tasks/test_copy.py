import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import Copy


def test_channels() -> None:
    assert (Copy().input_size, Copy().output_size) == (10, 8)


@given(st.integers(1, 9), st.integers(1, 6), st.integers(0, 5), st.integers(1, 4), st.integers(0, 1000))
def test_against_a_loop(bits: int, low: int, more: int, rows: int, seed: int) -> None:
    task = Copy(bits=bits, min_length=low, max_length=low + more)
    batch = task.sample(rows, torch.Generator().manual_seed(seed))
    steps = len(batch.inputs)
    length = (steps - 2) // 2
    assert low <= length <= low + more
    assert steps == 2 * length + 2

    inputs, targets, mask = (
        torch.zeros(steps, rows, bits + 2),
        torch.zeros(steps, rows, bits),
        torch.zeros(steps, rows),
    )
    for b in range(rows):
        inputs[0, b, bits] = 1
        inputs[length + 1, b, bits + 1] = 1
        for t in range(length):
            item = batch.inputs[1 + t, b, :bits]
            assert set(item.tolist()) <= {0.0, 1.0}
            inputs[1 + t, b, :bits] = item
            targets[length + 2 + t, b] = item
            mask[length + 2 + t, b] = 1
    assert torch.equal(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)


def test_every_length_is_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    task = Copy(bits=1, min_length=2, max_length=4)
    assert {len(task.sample(1, generator).inputs) for _ in range(60)} == {6, 8, 10}


def test_items_differ_between_rows_and_steps() -> None:
    batch = Copy(min_length=20, max_length=20).sample(4, torch.Generator().manual_seed(0))
    items = batch.targets[batch.mask > 0]
    assert len({tuple(item) for item in items.tolist()}) > 40
    assert 0.4 < float(items.mean()) < 0.6
