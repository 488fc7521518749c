"""The Self-dialogue Corpus (Fainberg et al., 2018): people talk with themselves about a topic, as two speakers.

A JSON document on each line: ``{"topic": …, "turns": [text, …]}``.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from mnemon.data.dialogue.conversations import Conversation, Lengths, pairs_of_turns, text_lines
from mnemon.data.files import data_folder, find_file
from mnemon.data.notes import Notes

FOLDERS = ("self_dialogue", "self-dialogue", "self_dialogue_corpus")


def read_self_dialogue(root: Path, lengths: Lengths, notes: Notes) -> Iterator[Conversation]:
    """The conversations, in the order of the file."""
    folder = data_folder(root, *FOLDERS)
    path = find_file(folder, "self_dialogue.jsonl", what="the Self-dialogue Corpus, a JSON document on each line,")
    for number, line in text_lines(path, notes):
        place = f"{path} line {number}"
        turns = _turns(line)
        if turns is None:
            notes.skip_at("lines that are not a JSON document with turns of text", place)
        else:
            yield pairs_of_turns(turns, lengths, notes, place)


def _turns(line: str) -> list[str] | None:
    try:
        turns = json.loads(line)["turns"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return turns if isinstance(turns, list) and all(isinstance(turn, str) for turn in turns) else None
