from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemon.data.dialogue import open_subtitles
from mnemon.data.dialogue.chit_chat import read_chit_chat
from mnemon.data.dialogue.conversations import Conversation, Lengths, Pair, pairs_of_turns
from mnemon.data.dialogue.cornell import read_cornell
from mnemon.data.dialogue.open_subtitles import read_open_subtitles
from mnemon.data.dialogue.self_dialogue import read_self_dialogue
from mnemon.data.dialogue.tab_pairs import read_tab_pairs
from mnemon.data.notes import Notes
from mnemon.errors import UserError
from tests.data.tiny_data import write
from tests.data.tiny_talk import chit_chat_bytes, small_talk

Read = Callable[[Path, Lengths, Notes], Iterator[Conversation]]
SHORT = Lengths(context=3, response=2)


def reading(read: Read, root: Path, lengths: Lengths = SHORT) -> tuple[list[Conversation], dict[str, int], Notes]:
    notes = Notes()
    found = list(read(root, lengths, notes))
    return found, {reason: note.count for reason, note in notes.skipped.items()}, notes


def test_pairs_of_turns() -> None:
    notes = Notes()
    pairs = pairs_of_turns(["A b", " ", "c d e f", "g 😀"], SHORT, notes, "here")
    assert pairs == [Pair(("a", "b"), ("c", "d")), Pair(("d", "e", "f"), ("g", "😀"))]
    assert notes.noticed["turns without words"].examples == ["here"]
    assert notes.complaint() is None


def test_a_context_may_be_empty_and_is_all_that_was_said() -> None:
    notes = Notes()
    assert pairs_of_turns(["", "hi"], SHORT, notes, "") == [Pair((), ("hi",))]
    long = pairs_of_turns(["a b", "c", "d"], Lengths(context=20), notes, "")
    assert long[-1].context == ("a", "b", "c")
    assert pairs_of_turns(["alone"], SHORT, notes, "") == pairs_of_turns([], SHORT, notes, "") == []
    assert notes.noticed["conversations without a response"].count == 2


def test_chit_chat(tmp_path: Path) -> None:
    write(tmp_path / "chitchat" / "dataset.json.gz", chit_chat_bytes(small_talk(2)))
    found, skipped, _ = reading(read_chit_chat, tmp_path)
    assert skipped == {}
    assert found[1][0] == Pair(("hello", "there", "1"), ("how", "are"))
    assert [len(conversation) for conversation in found] == [3, 3]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"a": ', "is not a JSON document: Expecting value: line 1 column 7"),
        (b"[]", "is not Chit-Chat: an object of conversations is expected"),
        (b'{"a": "\xff"}', "is not UTF-8 text"),
    ],
)
def test_a_damaged_chit_chat(tmp_path: Path, text: bytes, problem: str) -> None:
    write(tmp_path / "dataset.json", text)
    with pytest.raises(UserError, match=problem):
        reading(read_chit_chat, tmp_path)


def test_conversations_that_are_none_are_counted(tmp_path: Path) -> None:
    broken = (
        b'{"a": {}, "b": {"messages": [[{"text": 5}]]}, "c": 3, "d": {"messages": [[{"text": "a"}], [{"text": "b"}]]}}'
    )
    path = write(tmp_path / "dataset.json", broken)
    found, skipped, notes = reading(read_chit_chat, tmp_path)
    assert found == [[Pair(("a",), ("b",))]]
    assert skipped == {"conversations without turns of messages with a text": 3}
    assert notes.complaint() == (
        "left out: 3 conversations without turns of messages with a text"
        f" ({path} conversation 1, {path} conversation 2, {path} conversation 3)"
    )


def test_self_dialogue_with_broken_lines(tmp_path: Path) -> None:
    lines = b'{"turns": ["Hi", "Yo \xf0\x9f\x98\x80"]}\n{"turns": ["a"\n\xff\n{"turns": [1]}\n[]\n{"turns": ["one"]}'
    path = write(tmp_path / "self_dialogue.jsonl", lines)
    found, skipped, notes = reading(read_self_dialogue, tmp_path)
    assert found == [[Pair(("hi",), ("yo", "😀"))], []]
    assert skipped == {
        "lines that are not a JSON document with turns of text": 3,
        "lines that are not text in UTF-8": 1,
    }
    assert notes.skipped["lines that are not text in UTF-8"].examples == [f"{path} line 3"]


CORNELL_LINES = """\
L1 +++$+++ u0 +++$+++ m0 +++$+++ BIANCA +++$+++ They do not!
L2 +++$+++ u2 +++$+++ m0 +++$+++ CAMERON +++$+++ They do to caf\xe9s +++$+++ !
L3 +++$+++ u0 +++$+++ m0 +++$+++ BIANCA +++$+++
not a line
"""
CORNELL = """\
u0 +++$+++ u2 +++$+++ m0 +++$+++ ['L1', 'L2', 'L3']
u0 +++$+++ u2 +++$+++ m0 +++$+++ ['L1', 'L9']
u0 +++$+++ u2
"""


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8"])
def test_cornell(tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "cornell movie-dialogs corpus"
    write(folder / "movie_lines.txt", CORNELL_LINES.encode(encoding))
    write(folder / "movie_conversations.txt", CORNELL.encode())
    found, skipped, notes = reading(read_cornell, tmp_path, Lengths())
    assert found == [
        [Pair(("they", "do", "not", "!"), ("they", "do", "to", "cafés", "+", "+", "+", "$", "+", "+"))],
    ]
    assert list(skipped.values()) == [1, 1, 1]
    assert notes.skipped["conversations with a line that movie_lines.txt has not"].examples == [
        f"{folder}/movie_conversations.txt line 2, L9"
    ]
    assert notes.noticed["turns without words"].count == 1


def test_open_subtitles_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_subtitles, "STRETCH", 3)
    write(tmp_path / "opensubtitles" / "en.txt.gz", b"a\nb\nc\nd\ne\n\nx\ny\n\xff\n")
    found, skipped, _ = reading(read_open_subtitles, tmp_path)
    assert found == [
        [Pair(("a",), ("b",)), Pair(("a", "b"), ("c",))],
        [Pair(("d",), ("e",))],
        [Pair(("x",), ("y",))],
    ]
    assert skipped == {"lines that are not text in UTF-8": 1}


def test_open_subtitles_as_xml(tmp_path: Path) -> None:
    words = '<time id="T1S"/><w id="1.1">Hello</w><w id="1.2">!</w>'
    film = f'<document id="1"><s id="1">{words}</s><s>Plain text</s></document>'
    write(tmp_path / "xml" / "en" / "1999" / "1.xml", film.encode())
    broken = write(tmp_path / "xml" / "en" / "1999" / "2.xml.gz", b"<document>\n<s>")
    found, skipped, notes = reading(read_open_subtitles, tmp_path)
    assert found == [[Pair(("hello", "!"), ("plain", "text"))]]
    assert (skipped, notes.skipped["files that are not XML"].examples) == (
        {"files that are not XML": 1},
        [f"{broken} line 2"],
    )


def test_no_subtitles(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no \*.txt and no \*.xml: put OpenSubtitles' files there"):
        reading(read_open_subtitles, tmp_path)


def test_pairs_of_ones_own(tmp_path: Path) -> None:
    text = (
        "\ufeffHow are you?\tFine 😀 thanks\r\n\tempty context\nno tab\na\tb\tc\nhow  ARE you ?\tbad\nx\t \n".encode()
    )
    path = write(tmp_path / "pairs.tsv", text + b"\xff\ta\n")
    found, skipped, notes = reading(read_tab_pairs, tmp_path)
    assert found == [
        [Pair(("are", "you", "?"), ("fine", "😀")), Pair(("are", "you", "?"), ("bad",))],
        [Pair((), ("empty", "context"))],
    ]
    assert skipped == {
        "lines that are not context<TAB>response": 2,
        "lines without words after the tab": 1,
        "lines that are not text in UTF-8": 1,
    }
    assert notes.skipped["lines that are not context<TAB>response"].examples == [f"{path} line 3", f"{path} line 4"]


@pytest.mark.parametrize("read", [read_chit_chat, read_self_dialogue, read_cornell, read_tab_pairs])
def test_files_that_are_missing(tmp_path: Path, read: Read) -> None:
    with pytest.raises(UserError, match=r"is missing: put .* there, plain or as \.gz"):
        reading(read, tmp_path)
