"""The Cornell Movie-Dialogs Corpus (Danescu-Niculescu-Mizil and Lee, 2011), in its published files.

``movie_lines.txt`` has a line for each thing said: its number, the character, the film, the character's name and the
text; ``movie_conversations.txt`` two characters, the film, and a list such as ``['L194', 'L195']``. Between fields is
`` +++$+++ ``. The published files are in ISO-8859-1, later copies in UTF-8: a line is read as the one or the other.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mnemon.data.dialogue.conversations import Conversation, Lengths, pairs_of_turns, text_lines
from mnemon.data.files import data_folder, find_file
from mnemon.data.notes import Notes

FOLDERS = ("cornell", "cornell movie-dialogs corpus", "cornell_movie_dialogs_corpus", "cornell_movie_dialogs")
SEPARATOR = " +++$+++ "
ENCODING = "iso-8859-1"
NUMBER = re.compile(r"'(L\d+)'")


def read_cornell(root: Path, lengths: Lengths, notes: Notes) -> Iterator[Conversation]:
    """The conversations, in the order of their file."""
    folder = data_folder(root, *FOLDERS)
    what = "the file of the Cornell Movie-Dialogs Corpus"
    lines = find_file(folder, "movie_lines.txt", what=what)
    conversations = find_file(folder, "movie_conversations.txt", what=what)
    said = _read_lines(lines, notes)
    for number, line in text_lines(conversations, notes, otherwise=ENCODING):
        place = f"{conversations} line {number}"
        fields = line.split(SEPARATOR)
        numbers = NUMBER.findall(fields[-1]) if len(fields) == 4 else []
        if not numbers:
            notes.skip_at("conversations that are not four fields with a list of lines", place)
        elif missing := [name for name in numbers if name not in said]:
            notes.skip_at(f"conversations with a line that {lines.name} has not", f"{place}, {missing[0]}")
        else:
            yield pairs_of_turns([said[name] for name in numbers], lengths, notes, place)


def _read_lines(path: Path, notes: Notes) -> dict[str, str]:
    """What was said, by number. The text of some lines is empty, and then the separator has lost its last space."""
    said = {}
    for number, line in text_lines(path, notes, otherwise=ENCODING):
        fields = f"{line} ".split(SEPARATOR, maxsplit=4)
        if len(fields) == 5:
            said[fields[0]] = fields[4]
        else:
            notes.skip_at("lines that are not five fields", f"{path} line {number}")
    return said
