"""Chit-Chat (Myers et al., 2020): conversations of two strangers, each turn of which is one message or several.

One JSON document: ``{conversation: {"messages": [[{"text": …, "sender": …}, …], …], …}, …}``, a list for each turn.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mnemon.data.dialogue.conversations import Conversation, Lengths, pairs_of_turns
from mnemon.data.files import data_folder, find_file, open_text
from mnemon.data.notes import Notes
from mnemon.errors import UserError

FOLDERS = ("chitchat", "chit-chat", "chitchat_dataset")


def read_chit_chat(root: Path, lengths: Lengths, notes: Notes) -> Iterator[Conversation]:
    """The conversations, in the order of the file."""
    path = find_file(data_folder(root, *FOLDERS), "dataset.json", what="the Chit-Chat data set")
    with open_text(path) as file:
        try:
            document = json.load(file)
        except UnicodeDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path} is not a JSON document: {error}") from error
    if not isinstance(document, dict):
        raise UserError(f"{path} is not Chit-Chat: an object of conversations is expected")
    for number, conversation in enumerate(document.values(), start=1):
        place = f"{path} conversation {number}"
        turns = _turns(conversation)
        if turns is None:
            notes.skip_at("conversations without turns of messages with a text", place)
        else:
            yield pairs_of_turns(turns, lengths, notes, place)


def _turns(conversation: Any) -> list[str] | None:
    """What was said in each turn, its messages one after the other; None: this is no conversation."""
    try:
        texts = [[message["text"] for message in turn] for turn in conversation["messages"]]
    except (TypeError, KeyError):
        return None
    whole = all(isinstance(text, str) for turn in texts for text in turn)
    return [" ".join(turn) for turn in texts] if whole else None
