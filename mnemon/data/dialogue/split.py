"""The parts of a set of conversations for training, validation and testing, whole conversations to each."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.data.dialogue.conversations import Conversation, Pair
from mnemon.errors import UserError

HELD_OUT = 10_000  # pairs for validation, and as many for the test
LARGEST_SHARE = 0.1  # of all pairs, where there are few
ORDER = 0  # the seed of the order in which conversations are taken: the same parts for every run


class Parts(NamedTuple):
    """Pairs, in a random order that is always the same."""

    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]


def split(conversations: Sequence[Conversation], where: str) -> Parts:
    """10,000 pairs each for validation and test, or a tenth of all where that is less; the rest is for training.

    The last conversation of a part may bring a few more.
    """
    order = [conversation for conversation in conversations if conversation]
    generator = random.Random(ORDER)
    generator.shuffle(order)
    wanted = min(HELD_OUT, max(1, round(LARGEST_SHARE * sum(map(len, order)))))
    parts: list[list[Pair]] = []
    for _ in ("test", "validation"):
        part: list[Pair] = []
        while order and len(part) < wanted:
            part += order.pop()
        parts.append(part)
    train = [pair for conversation in order for pair in conversation]
    if not train:
        count = sum(map(bool, conversations))
        raise UserError(f"{where} has {count} conversations with a response: ten or more are needed, in three parts")
    for part in (train, *parts):
        generator.shuffle(part)
    return Parts(train, parts[1], parts[0])
