"""Text as words and back.

A word is a run of letters and digits, in lower case, its ``'s`` or ``n't`` apart from it, as GloVe has them: ``it 's``,
``do n't``. All other marks are words by themselves. In what people write to each other an emoji is a word, whatever
it is made of: 👍🏽 and 👩‍🚀 have two and three signs, 🇦🇺 has two letters.
"""

import re
import unicodedata
from collections.abc import Sequence

WORD = r"\w+(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]"
FLAG = r"[\U0001f1e6-\U0001f1ff]{2}"
KEY = r"[0-9#*]\ufe0f?\u20e3"
# A sign, and what varies, colours or joins it to the next.
EMOJI = r"[^\w\s](?:[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[^\w\s])+"
IN_TEXT = re.compile(WORD)
IN_UTTERANCE = re.compile(f"{FLAG}|{KEY}|{EMOJI}|{WORD}")
QUOTES = str.maketrans("’‘“”", "''\"\"")

BEFORE = re.compile(r" (?=n't\b|'(?:s|re|ve|ll|d|m)\b|[.,!?;:%)\]…])")
AFTER = re.compile(r"(?<=[(\[$#@]) ")


def split_words(text: str) -> list[str]:
    """The words and marks of a text."""
    return IN_TEXT.findall(text.lower())


def split_utterance(text: str) -> list[str]:
    """The words, marks and emoji of what somebody said; quotes of all kinds are written as plain ones."""
    if text.isascii():  # most is, and is then split in half the time
        return split_words(text)
    return IN_UTTERANCE.findall(unicodedata.normalize("NFC", text).translate(QUOTES).lower())


def join_words(words: Sequence[str]) -> str:
    """Words as a text for people, marks beside the words that they belong to."""
    return AFTER.sub("", BEFORE.sub("", " ".join(words)))
