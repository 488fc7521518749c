"""Talk as tokens and back: the words that a task knows, and how many of them it looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.data.dialogue.conversations import Lengths
from mnemon.data.vocabulary import TokenTable
from mnemon.data.words import join_words, split_utterance
from mnemon.errors import UserError
from mnemon.tasks.exchanges import END, until_end

SPECIAL = ("<end>", "<unknown>")
UNKNOWN = 1
assert SPECIAL[END] == "<end>"


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What a model of talk must know of its words to be used without the data that it was trained on."""

    table: TokenTable
    lengths: Lengths

    @classmethod
    def of(cls, words: Sequence[str], lengths: Lengths) -> "Wording":
        """For words in the order of their tokens."""
        return cls(table=TokenTable(special=SPECIAL, entries=tuple(words), unknown=UNKNOWN), lengths=lengths)

    def context(self, turns: Sequence[str]) -> list[int]:
        """The tokens of all that was said before, as far as they are looked at, and the end."""
        words = [word for turn in turns for word in split_utterance(turn)]
        return [*self.table.encode(words[-self.lengths.context :]), END]

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens say before the first end, for people."""
        return join_words(self.table.decode(until_end(tokens)))

    def to_json(self) -> dict[str, Any]:
        """What :meth:`from_json` makes the same of."""
        return {**self.lengths._asdict(), "words": list(self.table.entries)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], where: str) -> "Wording":
        """From what a run has kept; ``where`` is for complaints."""
        words = document.get("words")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise UserError(f"{where} has no list of words: it is not of a run on dialogue, or damaged")
        lengths = [document.get(name) for name in Lengths._fields]
        whole = [length for length in lengths if type(length) is int and length >= 1]
        if len(whole) != len(lengths):
            raise UserError(f"{where} does not say how many words of a context and a response count: it is damaged")
        return cls.of(words, Lengths(*whole))
