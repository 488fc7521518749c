"""Tokens for words, codes, or whatever comes by name: special tokens first, then the entries in their order."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from mnemon.errors import UserError


@dataclass(frozen=True, kw_only=True)
class TokenTable:
    """Which token is whose. An entry comes once, and a special token's name is none of them."""

    special: tuple[str, ...]
    entries: tuple[str, ...]
    unknown: int  # the special token of what is no entry

    def __post_init__(self) -> None:
        if len(self._numbers) < len(self):
            twice = next(name for name, count in Counter([*self.special, *self.entries]).items() if count > 1)
            raise UserError(f"{twice!r} comes twice in a table of tokens: write each name once")

    def __len__(self) -> int:
        """Tokens, special ones included."""
        return len(self.special) + len(self.entries)

    def token(self, entry: str) -> int:
        """The token of an entry, or that of the unknown."""
        return self._numbers.get(entry, self.unknown)

    def entry(self, token: int) -> str:
        """The entry of a token; a special token has its own name."""
        if not 0 <= token < len(self):
            raise IndexError(f"token {token} is not in a vocabulary of {len(self)}")
        return self.special[token] if token < len(self.special) else self.entries[token - len(self.special)]

    def encode(self, entries: Iterable[str]) -> list[int]:
        """The tokens of entries."""
        return [self.token(entry) for entry in entries]

    def decode(self, tokens: Iterable[int]) -> list[str]:
        """The entries of tokens."""
        return [self.entry(token) for token in tokens]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate([*self.special, *self.entries])}


def most_frequent(words: Iterable[str], most: int) -> tuple[str, ...]:
    """So many words, the most frequent first; of equally frequent ones that which comes first in the alphabet."""
    counts = Counter(words)
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:most])
