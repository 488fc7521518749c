from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.data.documents import (
    DOCUMENT_SETS,
    encode,
    hold_out,
    read_csv,
    read_documents,
    read_reviews,
    split_document,
)
from mnemon.errors import UserError
from tests.data.tiny_data import write, write_csv, write_tar

CSV_FILES = [("ag_news", "train.csv"), ("ag_news_csv", "train_partial.csv.gz"), (".", "train.csv")]
AG = DOCUMENT_SETS["ag-news"]
YELP = DOCUMENT_SETS["yelp-full"]


def test_the_sets_of_the_appendix() -> None:
    classes = {known.title: len(known.classes) for known in DOCUMENT_SETS.values()}
    assert classes == {
        "IMDb": 2,
        "Yelp Review Polarity": 2,
        "Yelp Review Full": 5,
        "AG's News": 4,
        "DBpedia": 14,
        "Yahoo! Answers": 10,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The cat, 12 mats.", ["the", "cat", ",", "12", "mats", "."]),
        ("It's what they don't know", ["it", "'s", "what", "they", "do", "n't", "know"]),
        ("a<br /><br />b", ["a", "b"]),
        ("won #39;t pay  #36;5 &amp; more", ["wo", "n't", "pay", "$", "5", "&", "more"]),
        ("&lt;A HREF=x&gt;here&lt;/A&gt;", ["here"]),
        ("1 < 2", ["1", "<", "2"]),
        ("Ünïted états", ["ünïted", "états"]),
        (" \t\n", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_document(text) == words


@given(st.text(alphabet="ab1 .,'<>n&#;\t", max_size=30))
def test_words_have_no_space_and_lose_no_letter(text: str) -> None:
    words = split_document(text)
    assert all(word and not any(letter.isspace() for letter in word) for word in words)
    if not set(text) & set("<>&#;"):
        assert "".join(words) == "".join(text.split())


def test_csv_columns_are_joined_and_classes_count_from_1(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv.gz", [(4, "A title", 'says "x, y"'), (1, "Other", "line\\nbreak")])
    assert read_csv(path, AG) == [(3, 'A title says "x, y"'), (0, "Other line nbreak")]
    path = write_csv(tmp_path / "b.csv", [(5, "a\\nb"), (1, "c\\d")])
    assert read_csv(path, YELP) == [(4, "a b"), (0, "c\\d")]


def test_classes_may_count_from_0(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", [(3, "x"), (0, "y")])
    assert read_csv(path, AG) == [(3, "x"), (0, "y")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty: rows of a class and text are expected"),
        ('"1","a"\n"5","b"\n', "line 2 is not a class from 1 to 4 and then text"),
        ('"1","a"\n"-1","b"\n', "line 2 is not a class from 1 to 4 and then text"),
        ('class,text\n1,"b"\n', "line 1 is not a class from 1 to 4 and then text"),
        ('"1"\n', "line 1 is not a class from 1 to 4 and then text"),
        ('"1","a', "line 1 is not a row of csv: unexpected end of data"),
        ('"0","a"\n"4","b"\n', "has classes from 0 to 4, one too many for AG's News"),
    ],
)
def test_a_damaged_csv_file(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path / "a.csv", text.encode())
    with pytest.raises(UserError) as caught:
        read_csv(path, AG)
    assert str(caught.value) == f"{path} {problem}"


REVIEWS = {
    "aclImdb/train/pos/1_9.txt": "Good.",
    "aclImdb/train/neg/2_1.txt": "Bad.",
    "aclImdb/train/unsup/3_0.txt": "Unlabelled.",
    "aclImdb/train/pos/10_8.txt": "Fine.",
    "aclImdb/test/neg/0_2.txt": "Poor.",
    "aclImdb/README.txt": "Read me.",
}
PARTS = {"train": [(0, "Bad."), (1, "Fine."), (1, "Good.")], "test": [(0, "Poor.")]}


def test_reviews_in_folders(tmp_path: Path) -> None:
    for name, text in REVIEWS.items():
        write(tmp_path / name, text.encode())
    assert read_reviews(tmp_path) == PARTS
    assert read_reviews(tmp_path / "aclImdb") == PARTS


def test_reviews_in_their_archive(tmp_path: Path) -> None:
    write_tar(tmp_path / "aclImdb_v1.tar.gz", REVIEWS)
    assert read_reviews(tmp_path) == PARTS


def test_missing_and_damaged_reviews(tmp_path: Path) -> None:
    for name in ("aclImdb/train/pos/1_9.txt", "aclImdb/train/neg/2_1.txt"):
        write(tmp_path / name, b"x")
    with pytest.raises(UserError) as caught:
        read_reviews(tmp_path)
    wanted = f"put IMDb's reviews there, or aclImdb_v1.tar.gz in {tmp_path}"
    assert str(caught.value) == f"{tmp_path}/aclImdb/test/{{pos,neg}}/*.txt is missing: {wanted}"
    archive = write(tmp_path / "other" / "aclImdb_v1.tar.gz", b"")
    archive.write_bytes(b"no archive")
    with pytest.raises(UserError, match=f"^cannot read {archive}: "):
        read_reviews(tmp_path / "other")


@given(st.lists(st.tuples(st.integers(0, 3), st.text(alphabet="ab .", max_size=12)), min_size=1, max_size=25))
def test_encoding_against_a_loop(documents: list[tuple[int, str]]) -> None:
    numbers: dict[str, int] = {}
    corpus = encode(documents, numbers)
    words = {number: word for word, number in numbers.items()}
    assert sorted(words) == list(range(len(numbers)))
    for row, (label, text) in enumerate(documents):
        start, length = int(corpus.starts[row]), int(corpus.lengths[row])
        found = corpus.words[start : start + length].tolist()
        assert [words[number] for number in found] == (split_document(text) or [""])
        assert int(corpus.labels[row]) == label


def test_every_tenth_document_is_held_out() -> None:
    corpus = encode(((row, "x") for row in range(21)), {})
    kept, held_out = hold_out(corpus)
    assert held_out.labels.tolist() == [9, 19]
    assert kept.labels.tolist() == [*range(9), *range(10, 19), 20]
    assert torch.equal(held_out.starts, torch.tensor([9, 19]))


@pytest.mark.parametrize(("folder", "train"), CSV_FILES)
def test_csv_sets(tmp_path: Path, folder: str, train: str) -> None:
    write_csv(tmp_path / folder / train, [(1, "a b"), (2, "c")])
    write_csv(tmp_path / folder / "test.csv", [(4, "c d")])
    numbers: dict[str, int] = {}
    training, test = read_documents("ag-news", tmp_path, numbers)
    assert numbers == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert (training.labels.tolist(), training.words.tolist()) == ([0, 1], [0, 1, 2])
    assert (test.labels.tolist(), test.words.tolist()) == ([3], [2, 3])


def test_an_excerpt_without_a_test_file_is_split(tmp_path: Path) -> None:
    write_csv(tmp_path / "dbpedia14_subset" / "dbpedia14_14k.csv.gz", [(row % 14, "x") for row in range(20)])
    training, test = read_documents("dbpedia", tmp_path, {})
    assert (len(training.labels), test.labels.tolist()) == (18, [9, 5])


def test_the_published_files_come_before_an_excerpt(tmp_path: Path) -> None:
    write_csv(tmp_path / "dbpedia14_14k.csv", [(0, "x")])
    write_csv(tmp_path / "train.csv.gz", [(3, "y")])
    with pytest.raises(UserError, match=f"^{tmp_path}/test.csv is missing: put the csv file of DBpedia there"):
        read_documents("dbpedia", tmp_path, {})
    write_csv(tmp_path / "test.csv", [(14, "z")])
    training, test = read_documents("dbpedia", tmp_path, {})
    assert (training.labels.tolist(), test.labels.tolist()) == ([2], [13])


def test_a_missing_csv_file(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_documents("yelp-full", tmp_path, {})
    wanted = "put the csv file of Yelp Review Full there, plain or as .gz"
    assert str(caught.value) == f"{tmp_path}/train.csv is missing: {wanted}"
