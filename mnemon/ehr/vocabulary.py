"""Tokens for codes. Made from the training patients alone: a code that only others have is unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mnemon.data.vocabulary import TokenTable

SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")
PAD, START, END, UNKNOWN = range(len(SPECIAL))
FIRST_CODE = len(SPECIAL)  # the token of the first code: a label's number is its token less this


@dataclass(frozen=True)
class Vocabulary:
    """Codes in the order of their tokens, and what they mean where that is known."""

    codes: tuple[str, ...]
    names: Mapping[str, str]

    def __len__(self) -> int:
        """Tokens, special ones included."""
        return len(self._table)

    def token(self, code: str) -> int:
        """The token of a code, or that of the unknown."""
        return self._table.token(code)

    def code(self, token: int) -> str:
        """The code of a token; a special token has its own name."""
        return self._table.entry(token)

    def name(self, token: int) -> str:
        """What a token means: the name of its code, or the code itself."""
        code = self.code(token)
        return self.names.get(code, code)

    def decode(self, tokens: Sequence[int]) -> list[str]:
        """The codes of tokens."""
        return self._table.decode(tokens)

    @cached_property
    def _table(self) -> TokenTable:
        return TokenTable(special=SPECIAL, entries=self.codes, unknown=UNKNOWN)
