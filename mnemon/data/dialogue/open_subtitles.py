"""OpenSubtitles (Lison and Tiedemann, 2016): what is said in films, without who says it.

Either plain text with one utterance on each line and an empty line between films, or OPUS's XML files, one for each
film: ``<s id="1"><w id="1.1">Hello</w> …</s>``. Every utterance counts as a response to those before it. Where a film
ends is not always told, so films are cut into stretches of :data:`STRETCH` utterances, which count as conversations.
"""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from mnemon.data.dialogue.conversations import Conversation, Lengths, pairs_of_turns, text_lines
from mnemon.data.files import data_folder, open_bytes
from mnemon.data.notes import Notes
from mnemon.errors import UserError

FOLDERS = ("opensubtitles", "OpenSubtitles", "open_subtitles")
STRETCH = 100


def read_open_subtitles(root: Path, lengths: Lengths, notes: Notes) -> Iterator[Conversation]:
    """The conversations of all files, in the order of their names."""
    folder = data_folder(root, *FOLDERS)
    texts, films = _files(folder, "txt"), _files(folder, "xml")
    if not texts and not films:
        raise UserError(f"{folder} has no *.txt and no *.xml: put OpenSubtitles' files there, plain or as .gz")
    for path in texts:
        for place, film in _films_of_text(path, notes):
            yield from _stretches(film, lengths, notes, place)
    for path in films:
        yield from _stretches(_utterances(path, notes), lengths, notes, str(path))


def _files(folder: Path, ending: str) -> list[Path]:
    return sorted([*folder.rglob(f"*.{ending}"), *folder.rglob(f"*.{ending}.gz")])


def _films_of_text(path: Path, notes: Notes) -> Iterator[tuple[str, list[str]]]:
    """The utterances of each film, and the line with the first of them."""
    film: list[str] = []
    first = 1
    for number, line in text_lines(path, notes):
        if line.strip():
            film.append(line)
            continue
        yield f"{path} line {first}", film
        film, first = [], number + 1
    yield f"{path} line {first}", film


def _utterances(path: Path, notes: Notes) -> list[str]:
    """The sentences of an XML file; one that is damaged is left out whole."""
    try:
        with open_bytes(path) as file:
            sentences = ElementTree.parse(file).getroot().iter("s")  # expat itself stops at entities that multiply
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the last two: of an unknown encoding
        if isinstance(error, UserError):
            raise
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else 1
        notes.skip_at("files that are not XML", f"{path} line {line}")
        return []
    return [" ".join(word.text or "" for word in sentence.iter("w")) or sentence.text or "" for sentence in sentences]


def _stretches(film: list[str], lengths: Lengths, notes: Notes, place: str) -> Iterator[Conversation]:
    for first in range(0, len(film), STRETCH):
        yield pairs_of_turns(film[first : first + STRETCH], lengths, notes, place)
