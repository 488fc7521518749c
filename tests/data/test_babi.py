from pathlib import Path

import pytest

from mnemon.data.babi import TASKS, Story, read_babi, read_stories
from mnemon.errors import UserError
from tests.data.tiny_data import babi_files, babi_story, write_babi, write_tar

WHOLE = "tasks_1-20_v1-2/en-10k/qa3_some-name_train.txt"
EXCERPT = WHOLE.replace(".txt", ".PARTIAL.txt")


def test_stories() -> None:
    text = "1 Mary moved.\n2 Where is Mary? \tbathroom\t1\n1 How?\ts,w\t3 2\n"
    assert read_stories(text, "file") == [
        Story(words=["mary", "moved", ".", "where", "is", "mary", "?", "-"], asked=[*[None] * 7, "bathroom"]),
        Story(words=["how", "?", "-", "-"], asked=[None, None, "s", "w"]),
    ]


def test_stories_without_a_question_are_left_out() -> None:
    assert len(read_stories("1 Mary moved.\n1 Who?\tmary\t1\n", "file")) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2 Mary moved.\n", 1),
        ("Mary moved.\n", 1),
        ("1 Mary moved.\n\n", 2),
        ("1 Mary moved.\n2 \n", 2),
        ("1 Who?\t\t1\n", 1),
        ("1 Who?\tmary,,john\t1\n", 1),
    ],
)
def test_lines_that_are_none(text: str, line: int) -> None:
    with pytest.raises(UserError) as caught:
        read_stories(text, "file")
    assert str(caught.value) == f"file line {line} is not a number and a sentence, with an answer after a question"


@pytest.mark.parametrize("text", ["", "1 Mary moved.\n"])
def test_files_without_a_question(text: str) -> None:
    with pytest.raises(UserError, match=r"^file has no story with a question in it$"):
        read_stories(text, "file")


def test_archive_and_folder_are_the_same(tmp_path: Path) -> None:
    write_babi(tmp_path / "archive", stories=2)
    for name, text in babi_files(2).items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = read_babi(tmp_path / "archive")
    assert found == read_babi(tmp_path / "folder")
    assert list(found) == [(number, part) for number in TASKS for part in ("test", "train")]
    assert found[1, "train"] == read_stories(babi_story(0) + babi_story(1), "file")


def test_an_excerpt_serves_until_the_whole_is_there(tmp_path: Path) -> None:
    files = babi_files(2)
    excerpt = files | {EXCERPT: babi_story(7)}
    del excerpt[WHOLE]
    write_tar(tmp_path / "one/tasks_1-20_v1-2.tar.gz", excerpt)
    assert read_babi(tmp_path / "one")[3, "train"] == read_stories(babi_story(7), "file")
    write_tar(tmp_path / "two/tasks_1-20_v1-2.tar.gz", files | {EXCERPT: babi_story(7)})
    assert read_babi(tmp_path / "two")[3, "train"] == read_stories(files[WHOLE], "file")


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    wanted = f"is missing: put bAbI's tasks there, or tasks_1-20_v1-2.tar.gz in {tmp_path}"
    with pytest.raises(UserError) as caught:
        read_babi(tmp_path)
    assert str(caught.value) == f"{tmp_path}/en-10k/qa1_*_train.txt {wanted}"
    files = babi_files(1)
    del files[WHOLE]
    archive = write_tar(tmp_path / "tasks_1-20_v1-2.tar.gz", files)
    with pytest.raises(UserError) as caught:
        read_babi(tmp_path)
    assert str(caught.value) == f"{tmp_path}/en-10k/qa3_*_train.txt {wanted}"
    archive.write_bytes(b"no archive")
    with pytest.raises(UserError, match=rf"^cannot read {archive}: "):
        read_babi(tmp_path)
    write_tar(archive, babi_files(1) | {WHOLE: "nonsense"})
    with pytest.raises(UserError, match=rf"^{archive}/{WHOLE} line 1 is not a number and a sentence"):
        read_babi(tmp_path)
