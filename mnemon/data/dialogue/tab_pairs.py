"""Pairs of one's own: a file ``pairs.tsv`` with ``context<TAB>response`` on each line.

A context may be empty. Lines with the same context count as one conversation, so that it is never in two parts.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from mnemon.data.dialogue.conversations import Conversation, Lengths, Pair, text_lines
from mnemon.data.files import find_file
from mnemon.data.notes import Notes
from mnemon.data.words import split_utterance


def read_tab_pairs(root: Path, lengths: Lengths, notes: Notes) -> Iterator[Conversation]:
    """The conversations, in the order of their first lines."""
    path = find_file(root, "pairs.tsv", what="lines of context<TAB>response")
    found: defaultdict[tuple[str, ...], Conversation] = defaultdict(list)
    for number, line in text_lines(path, notes):
        place = f"{path} line {number}"
        context, tab, response = line.partition("\t")
        words = split_utterance(response)
        if not tab or "\t" in response:
            notes.skip_at("lines that are not context<TAB>response", place)
        elif not words:
            notes.skip_at("lines without words after the tab", place)
        else:
            before = tuple(split_utterance(context)[-lengths.context :])
            found[before].append(Pair(before, tuple(words[: lengths.response])))
    yield from found.values()
