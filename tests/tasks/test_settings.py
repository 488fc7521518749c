from collections.abc import Callable

import pytest

from mnemon.errors import UserError
from mnemon.tasks import Add, AssociativeRecall, Copy, DynamicNGrams, Max, PrioritySort, RepeatCopy, Sinusoid, TokenCopy

BAD: dict[str, Callable[[], object]] = {
    "Copy(bits=0): write bits=1 or more": lambda: Copy(bits=0),
    "Copy(min_length=0): write min_length=1 or more": lambda: Copy(min_length=0),
    "Copy(min_length=5, max_length=4): write max_length=5 or more, or min_length=4 or less": lambda: Copy(
        min_length=5, max_length=4
    ),
    "RepeatCopy(bits=-1): write bits=1 or more": lambda: RepeatCopy(bits=-1),
    "RepeatCopy(max_length=0): write max_length=1 or more": lambda: RepeatCopy(max_length=0),
    "RepeatCopy(min_repeats=0): write min_repeats=1 or more": lambda: RepeatCopy(min_repeats=0),
    "RepeatCopy(min_repeats=3, max_repeats=2): write max_repeats=3 or more, or min_repeats=2 or less": (
        lambda: RepeatCopy(min_repeats=3, max_repeats=2)
    ),
    "RepeatCopy(count_range[0]=9, count_range[1]=2): "
    "write count_range[1]=9 or more, or count_range[0]=2 or less": lambda: RepeatCopy(count_range=(9, 2)),
    "AssociativeRecall(bits=0): write bits=1 or more": lambda: AssociativeRecall(bits=0),
    "AssociativeRecall(item_length=0): write item_length=1 or more": lambda: AssociativeRecall(item_length=0),
    "AssociativeRecall(min_items=1): write min_items=2 or more": lambda: AssociativeRecall(min_items=1),
    "DynamicNGrams(order=1): write order=2 or more": lambda: DynamicNGrams(order=1),
    "DynamicNGrams(length=5): write length=6 or more": lambda: DynamicNGrams(length=5),
    "PrioritySort(bits=0): write bits=1 or more": lambda: PrioritySort(bits=0),
    "PrioritySort(items=0): write items=1 or more": lambda: PrioritySort(items=0),
    "PrioritySort(sorted_items=0): write sorted_items=1 or more": lambda: PrioritySort(sorted_items=0),
    "PrioritySort(items=4, sorted_items=5): write sorted_items=4 or less": lambda: PrioritySort(
        items=4, sorted_items=5
    ),
    "TokenCopy(length=0): write length=1 or more": lambda: TokenCopy(length=0),
    "TokenCopy(largest=0): write largest=1 or more": lambda: TokenCopy(largest=0),
    "Add(length=1): write length=2 or more": lambda: Add(length=1),
    "Max(length=1): write length=2 or more": lambda: Max(length=1),
    "Sinusoid(length=0): write length=1 or more": lambda: Sinusoid(length=0),
    "Sinusoid(noise=-1.0): write noise=0.0 or more": lambda: Sinusoid(noise=-1.0),
    "Sinusoid(noise=nan): write noise=0.0 or more": lambda: Sinusoid(noise=float("nan")),
}


@pytest.mark.parametrize(("message", "build"), BAD.items(), ids=BAD.keys())
def test_a_bad_setting_says_what_to_write(message: str, build: Callable[[], object]) -> None:
    with pytest.raises(UserError) as caught:
        build()
    assert str(caught.value) == message
