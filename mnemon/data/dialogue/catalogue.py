"""The sets of conversations by name."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from mnemon.data.dialogue.chit_chat import read_chit_chat
from mnemon.data.dialogue.conversations import Conversation, Lengths
from mnemon.data.dialogue.cornell import read_cornell
from mnemon.data.dialogue.open_subtitles import read_open_subtitles
from mnemon.data.dialogue.self_dialogue import read_self_dialogue
from mnemon.data.dialogue.tab_pairs import read_tab_pairs
from mnemon.data.notes import Notes


class DialogueSet(NamedTuple):
    """How a set is read, and whether word vectors are needed with it."""

    title: str
    read: Callable[[Path, Lengths, Notes], Iterator[Conversation]]
    needs_vectors: bool = True  # for A-GloVe, without which its results would lack a column


DIALOGUE_SETS: dict[str, DialogueSet] = {
    "chit-chat": DialogueSet("Chit-Chat", read_chit_chat),
    "self-dialogue": DialogueSet("Self-dialogue", read_self_dialogue),
    "cornell": DialogueSet("Cornell Movies", read_cornell),
    "open-subtitles": DialogueSet("OpenSubtitles", read_open_subtitles),
    "dialogue-pairs": DialogueSet("pairs of one's own", read_tab_pairs, needs_vectors=False),
}
