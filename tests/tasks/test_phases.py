import torch

from mnemon.tasks import Copy, DynamicNGrams, RepeatCopy, Sequencing
from mnemon.tasks.phases import phases


def test_prompt_and_answer() -> None:
    task = Copy(min_length=2, max_length=2)
    assert phases(task, task.sample(3, torch.Generator())) == ["input"] * 4 + ["answer"] * 2


def test_prediction_from_the_first_context_on() -> None:
    task = DynamicNGrams(order=3, length=5)
    assert phases(task, task.sample(1, torch.Generator())) == ["input"] + ["answer"] * 3


def test_a_sequence_says_of_which_task() -> None:
    parts = (
        Copy(min_length=2, max_length=2),
        RepeatCopy(min_length=1, max_length=1, min_repeats=2, max_repeats=2),
    )
    task = Sequencing(parts=parts)
    copy, repeat = ("copy", 4, 2), ("repeat copy", 3, 3)
    expected = [
        ["order"]
        + [f"{name}, input" for name, prompt, _ in order for _ in range(prompt)]
        + [f"{name}, answer" for name, _, answer in order for _ in range(answer)]
        for order in ((copy, repeat), (repeat, copy))
    ]
    generator = torch.Generator().manual_seed(0)
    found = [phases(task, task.sample(2, generator)) for _ in range(20)]
    assert all(sequence in found for sequence in expected)
    assert all(sequence in expected for sequence in found)
