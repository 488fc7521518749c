from itertools import pairwise

import pytest

from mnemon.data.dialogue import split as splitting
from mnemon.data.dialogue.conversations import Conversation, Pair
from mnemon.data.dialogue.split import split
from mnemon.errors import UserError


def talk(conversations: int, pairs: int = 3) -> list[Conversation]:
    return [[Pair((str(one),), (str(pair),)) for pair in range(pairs)] for one in range(conversations)]


def test_whole_conversations_to_each_part() -> None:
    conversations = [*talk(50), []]
    parts = split(conversations, "here")
    owners = [{pair.context for pair in part} for part in parts]
    assert [len(each) for each in owners] == [40, 5, 5]
    assert len(set.union(*owners)) == 50
    assert sorted(pair for part in parts for pair in part) == sorted(pair for each in conversations for pair in each)


def test_parts_are_always_the_same_and_in_a_random_order() -> None:
    assert split(talk(50), "here") == split(talk(50), "there")
    train = split(talk(50), "here").train
    assert train != sorted(train)
    assert any(first.context != second.context for first, second in pairwise(train))


def test_no_more_is_held_out_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "HELD_OUT", 7)
    parts = split(talk(100), "here")
    assert [len(part) for part in parts] == [300 - 18, 9, 9]


@pytest.mark.parametrize("conversations", [[], [[]], talk(2)])
def test_too_few_conversations(conversations: list[Conversation]) -> None:
    count = sum(map(bool, conversations))
    with pytest.raises(UserError, match=f"here has {count} conversations with a response: ten or more are needed"):
        split(conversations, "here")
