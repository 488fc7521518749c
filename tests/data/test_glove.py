from pathlib import Path

import pytest
import torch

from mnemon.data.glove import find_glove, read_glove
from mnemon.errors import UserError
from tests.data.tiny_data import write, write_glove

VECTORS = {"the": (0.5, -1.25), ",": (1e-3, 2.0), ". .": (3.0, 4.0), "cat": (0.0, 7.0)}


@pytest.mark.parametrize("name", ["glove.txt", "glove.txt.gz"])
def test_wanted_words_in_the_order_of_the_file(tmp_path: Path, name: str) -> None:
    found = read_glove(write_glove(tmp_path / name, VECTORS), {"cat", "the", ". .", "dog"})
    assert found.words == ["the", ". .", "cat"]
    assert torch.equal(found.vectors, torch.tensor([[0.5, -1.25], [3.0, 4.0], [0.0, 7.0]]))


def test_the_format_of_word2vec(tmp_path: Path) -> None:
    path = write(tmp_path / "word2vec.txt", b"2 3\nthe 1 2 3\ncat 4 5 6\n")
    found = read_glove(find_glove(tmp_path), {"cat"})
    assert (find_glove(tmp_path), found.words, found.vectors.tolist()) == (path, ["cat"], [[4, 5, 6]])


def test_no_word_is_wanted(tmp_path: Path) -> None:
    found = read_glove(write_glove(tmp_path / "glove.txt", VECTORS), set())
    assert (found.words, found.vectors.shape) == ([], (0, 2))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty: lines of a word and its numbers are expected"),
        ("the\n", "line 1 is not a word and its numbers"),
        ("the 1 2\ncat 1\n", "line 2 is not a word and 2 numbers"),
        ("the 1 2\ncat 1 x\n", "line 2 is not a word and 2 numbers"),
    ],
)
def test_a_damaged_file(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path / "glove.txt", text.encode())
    with pytest.raises(UserError) as caught:
        read_glove(path, {"the", "cat"})
    assert str(caught.value) == f"{path} {problem}"


@pytest.mark.parametrize("name", ["glove.6B.50d.txt", "glove.6B.50d.txt.gz", "glove_6b/glove.6B.50d.top.txt.gz"])
def test_the_file_is_found(tmp_path: Path, name: str) -> None:
    path = write_glove(tmp_path / name, VECTORS)
    write(tmp_path / "glove_6b" / "LICENSE.txt", b"")
    assert find_glove(tmp_path) == path


def test_no_file_or_several(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        find_glove(tmp_path)
    wanted = "put a file of GloVe vectors there, plain or as .gz"
    assert str(caught.value) == f"{tmp_path}/glove*.txt is missing: {wanted}"
    first, second = (write_glove(tmp_path / f"glove.{size}d.txt", VECTORS) for size in (100, 50))
    with pytest.raises(UserError, match=f"has several files of word vectors: keep one of {first}, {second}$"):
        find_glove(tmp_path)
