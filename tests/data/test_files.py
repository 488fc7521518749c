import gzip
import re
from pathlib import Path

import pytest

from mnemon.data.files import data_folder, find_file, open_bytes, open_text
from mnemon.errors import UserError
from tests.data.tiny_data import write


def test_a_named_folder_comes_before_the_root(tmp_path: Path) -> None:
    assert data_folder(tmp_path, "one", "two") == tmp_path
    (tmp_path / "two").mkdir()
    assert data_folder(tmp_path, "one", "two") == tmp_path / "two"


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"^{tmp_path}/x is not a folder: write the one that holds the data$"):
        data_folder(tmp_path / "x", "one")


def test_the_first_name_wins_and_plain_before_packed(tmp_path: Path) -> None:
    write(tmp_path / "b", b"")
    assert find_file(tmp_path, "a", "b", what="it").name == "b"
    write(tmp_path / "a.gz", b"")
    assert find_file(tmp_path, "a", "b", what="it").name == "a.gz"
    write(tmp_path / "a", b"")
    assert find_file(tmp_path, "a", "b", what="it").name == "a"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"^{tmp_path}/a is missing: put the thing there, plain or as .gz$"):
        find_file(tmp_path, "a", "b", what="the thing")


@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_plain_and_packed_files_read_alike(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "é\r\nb\n".encode())
    with open_text(path) as file:
        assert file.read() == "é\r\nb\n"


@pytest.mark.parametrize(
    "data",
    [b"not gzip", gzip.compress(b"x" * 1000)[:-12], b"\x1f\x8b\x08" + 50 * b"\xff"],
    ids=["another", "cut", "spoilt"],  # names that do not hold gzip's time
)
def test_a_damaged_packed_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(data)
    with pytest.raises(UserError, match=f"^cannot read {re.escape(str(path))}: .+$"), open_bytes(path) as file:
        file.read()


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path / "file", b"a\xffb")
    with pytest.raises(UserError, match=f"^{path} is not UTF-8 text: .+$"), open_text(path) as file:
        file.read()
