import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import PrioritySort
from mnemon.tasks.priority_sort import by_priority


def test_channels() -> None:
    assert (PrioritySort().input_size, PrioritySort().output_size) == (9, 8)


@given(st.integers(1, 8), st.integers(1, 12), st.integers(0, 11), st.integers(1, 3), st.integers(0, 1000))
def test_against_a_loop(bits: int, wanted: int, more: int, rows: int, seed: int) -> None:
    items = wanted + more
    batch = PrioritySort(bits=bits, items=items, sorted_items=wanted).sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == (items + wanted, rows, bits + 1)
    for b in range(rows):
        shown = batch.inputs[:items, b].tolist()
        ranked = sorted(shown, key=lambda step: step[bits], reverse=True)
        for place in range(wanted):
            assert batch.targets[items + place, b].tolist() == ranked[place][:bits]
        assert batch.mask[:, b].tolist() == [0.0] * items + [1.0] * wanted
    assert not batch.inputs[items:].any()
    assert not batch.targets[:items].any()
    assert set(batch.inputs[:, :, :bits].flatten().tolist()) <= {0.0, 1.0}


def test_items_stay_whole() -> None:
    items = torch.tensor([[1.0, 0.0], [0.0, 1.0]]).unsqueeze(1)
    priorities = torch.tensor([[-0.5], [0.5]])
    together = torch.cat([items, priorities.unsqueeze(-1)], dim=-1)
    column_by_column = together.sort(dim=0, descending=True).values[..., :2]
    assert by_priority(items, priorities).squeeze(1).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert column_by_column.squeeze(1).tolist() == [[1.0, 1.0], [0.0, 0.0]]  # what it must not be


def test_each_row_of_the_batch_has_its_own_order() -> None:
    items = torch.tensor([[[1.0], [1.0]], [[0.0], [0.0]]])
    priorities = torch.tensor([[0.9, -0.9], [0.1, 0.1]])
    assert by_priority(items, priorities).squeeze(-1).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_equal_priorities_keep_their_order() -> None:
    items = torch.arange(40.0).view(40, 1, 1)
    assert torch.equal(by_priority(items, torch.zeros(40, 1)), items)


def test_priorities_fill_the_range() -> None:
    batch = PrioritySort().sample(200, torch.Generator().manual_seed(0))
    priorities = batch.inputs[:20, :, 8]
    assert -1 <= float(priorities.min()) < -0.99
    assert 0.99 < float(priorities.max()) <= 1
    assert abs(float(priorities.mean())) < 0.05
