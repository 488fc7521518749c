import pytest
import torch

from mnemon.errors import UserError
from mnemon.tasks import Batch, Copy, DynamicNGrams, PrioritySort
from mnemon.tasks.rendering import render_bits
from mnemon.tasks.sampling import add_channels, marker, prompt_then_answer

COPY = Copy(bits=2, min_length=2, max_length=2)


def copy_batch() -> Batch:
    items = torch.tensor([[[1.0, 1.0]], [[0.0, 1.0]]])
    shown = add_channels(items, 2)
    return prompt_then_answer(torch.cat([marker(shown, 2), shown, marker(shown, 3)]), items)


def test_a_batch_without_an_answer() -> None:
    assert COPY.render(copy_batch()) == "\n".join(
        [
            "asked          ····▲▲",
            "input   bit 1  ·█····",
            "        bit 2  ·██···",
            "        start  █·····",
            "        end    ···█··",
            "target  bit 1      █·",
            "        bit 2      ██",
        ]
    )


def test_errors_are_marked() -> None:
    batch = copy_batch()
    output = 2 * batch.targets - 1
    output[5, 0, 1] = -3
    output[0] = 9  # nothing is asked there
    assert COPY.render(batch, 0, output).splitlines()[5:] == [
        "target  bit 1      █·",
        "        bit 2      ██",
        "answer  bit 1      █·",
        "        bit 2      █×",
        "1 of 4 bits wrong",
    ]


def test_the_chosen_row_is_drawn() -> None:
    bits = torch.tensor([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]).unsqueeze(-1)
    batch = Batch(inputs=bits[:-1], targets=bits[1:], mask=torch.tensor([[0.0, 1.0], [1.0, 1.0]]))
    task = DynamicNGrams(order=2, length=3)
    assert task.render(batch, 0) == "asked        ·▲\ninput   bit  ··\ntarget  bit   █"
    assert task.render(batch, 1, -bits[1:]).splitlines() == [
        "asked        ▲▲",
        "input   bit  ██",
        "target  bit  ██",
        "answer  bit  ××",
        "2 of 2 bits wrong",
    ]


def test_priorities_are_levels_with_their_range() -> None:
    items, priorities = torch.tensor([[1.0], [0.0], [1.0]]), torch.tensor([[-0.5], [0.5], [0.0625]])
    prompt = torch.stack([items, priorities], dim=-1)
    batch = prompt_then_answer(prompt, torch.tensor([[[0.0]], [[1.0]]]))
    assert PrioritySort(bits=1, items=3, sorted_items=2).render(batch) == "\n".join(
        [
            "asked             ···▲▲",
            "input   bit 1     █·█··",
            "        priority  ▁█▅··  -0.50 to 0.50",
            "target  bit 1        ·█",
        ]
    )


def test_a_single_number_is_written_out() -> None:
    batch = prompt_then_answer(torch.tensor([[[0.0]], [[-1.5]]]), torch.ones(1, 1, 1))
    drawn = render_bits(batch, 0, None, input_channels=["count"], output_channels=["bit"])
    assert drawn.splitlines() == ["asked          ··▲", "input   count  ·█·  -1.50", "target  bit      █"]


@pytest.mark.parametrize("row", [-1, 1])
def test_a_row_outside_the_batch(row: int) -> None:
    with pytest.raises(UserError, match=rf"^row={row} is outside a batch of 1: write a row from 0 to 0$"):
        COPY.render(copy_batch(), row)
