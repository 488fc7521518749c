"""Labelled documents: IMDb's folders, and the csv files of Zhang et al. (2015) for the others.

The thesis's appendix lists six sets. IMDb is ``aclImdb/{train,test}/{pos,neg}/*.txt``, as a folder or still in its
archive. The others are ``train.csv`` and ``test.csv``, plain or as ``.gz``: the number of the class from 1 on, then one
or more columns of text.

Letters: ``N`` documents, ``W`` words of all documents.
"""

import csv
import html
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from mnemon.data.files import data_folder, find_file, open_text
from mnemon.data.unpacking import tar_members
from mnemon.data.words import split_words
from mnemon.errors import UserError

Document = tuple[int, str]  # the number of its class from 0 on, and its text

CLASS = re.compile(r"[0-9]{1,9}")
REVIEW = re.compile(r"(?:.*/)?(train|test)/(neg|pos)/[^/]*\.txt")
HELD_OUT_OF = 10  # one row of so many


@dataclass(frozen=True, kw_only=True)
class DocumentSet:
    """What is known of a published set before it is read."""

    title: str
    classes: tuple[str, ...]
    folders: tuple[str, ...]  # the names its folder goes by
    train_files: tuple[str, ...] = ("train.csv",)  # the published one, then excerpts of it
    without_test: tuple[str, ...] = ()  # those that come without a test file: every tenth row is then for the test
    line_end: str = "\\n"  # how the csv files write the end of a line of text


class Corpus(NamedTuple):
    """Documents as numbers of words, one after the other."""

    words: Int[Tensor, "W"]
    starts: Int[Tensor, "N"]
    lengths: Int[Tensor, "N"]
    labels: Int[Tensor, "N"]

    def take(self, rows: Int[Tensor, "some"]) -> "Corpus":
        """Some of the documents."""
        return Corpus(self.words, self.starts[rows], self.lengths[rows], self.labels[rows])


DOCUMENT_SETS: dict[str, DocumentSet] = {
    "imdb": DocumentSet(title="IMDb", classes=("negative", "positive"), folders=("imdb", "aclImdb")),
    "ag-news": DocumentSet(
        title="AG's News",
        classes=("World", "Sports", "Business", "Sci/Tech"),
        folders=("ag_news", "ag_news_csv"),
        train_files=("train.csv", "train_partial.csv"),
        line_end="\\",
    ),
    "dbpedia": DocumentSet(
        title="DBpedia",
        classes=(
            "Company",
            "EducationalInstitution",
            "Artist",
            "Athlete",
            "OfficeHolder",
            "MeanOfTransportation",
            "Building",
            "NaturalPlace",
            "Village",
            "Animal",
            "Plant",
            "Album",
            "Film",
            "WrittenWork",
        ),
        folders=("dbpedia", "dbpedia_csv", "dbpedia14_subset"),
        train_files=("train.csv", "dbpedia14_14k.csv"),
        without_test=("dbpedia14_14k.csv",),
    ),
    "yelp-polarity": DocumentSet(
        title="Yelp Review Polarity",
        classes=("negative", "positive"),
        folders=("yelp_review_polarity", "yelp_review_polarity_csv"),
    ),
    "yelp-full": DocumentSet(
        title="Yelp Review Full",
        classes=("1 star", "2 stars", "3 stars", "4 stars", "5 stars"),
        folders=("yelp_review_full", "yelp_review_full_csv"),
    ),
    "yahoo-answers": DocumentSet(
        title="Yahoo! Answers",
        classes=(
            "Society & Culture",
            "Science & Mathematics",
            "Health",
            "Education & Reference",
            "Computers & Internet",
            "Sports",
            "Business & Finance",
            "Entertainment & Music",
            "Family & Relationships",
            "Politics & Government",
        ),
        folders=("yahoo_answers", "yahoo_answers_csv"),
    ),
}


def read_documents(name: str, root: Path, numbers: dict[str, int]) -> tuple[Corpus, Corpus]:
    """The training and the test documents of a set under ``root``; words new to ``numbers`` are added to it."""
    known = DOCUMENT_SETS[name]
    folder = data_folder(root, *known.folders)
    if name == "imdb":
        parts = read_reviews(folder)
        return encode(parts["train"], numbers), encode(parts["test"], numbers)
    what = f"the csv file of {known.title}"
    train = find_file(folder, *known.train_files, what=what)
    training = encode(read_csv(train, known), numbers)
    if train.name.removesuffix(".gz") in known.without_test:
        return hold_out(training)
    return training, encode(read_csv(find_file(folder, "test.csv", what=what), known), numbers)


def read_csv(path: Path, known: DocumentSet) -> list[Document]:
    """The rows of a csv file. Classes count from 1, or from 0 if there is a 0 among them."""
    documents: list[Document] = []
    with open_text(path) as file:
        rows = csv.reader(file, strict=True)
        try:
            for row in rows:
                if len(row) < 2 or not CLASS.fullmatch(row[0]) or int(row[0]) > len(known.classes):
                    wanted = f"a class from 1 to {len(known.classes)} and then text"
                    raise UserError(f"{path} line {rows.line_num} is not {wanted}")
                documents.append((int(row[0]), " ".join(row[1:]).replace(known.line_end, " ")))
        except csv.Error as error:
            raise UserError(f"{path} line {rows.line_num} is not a row of csv: {error}") from error
    if not documents:
        raise UserError(f"{path} is empty: rows of a class and text are expected")
    labels = {label for label, _ in documents}
    first = 0 if 0 in labels else 1
    if first == 0 and len(known.classes) in labels:
        raise UserError(f"{path} has classes from 0 to {len(known.classes)}, one too many for {known.title}")
    return [(label - first, text) for label, text in documents]


def read_reviews(folder: Path) -> dict[str, list[Document]]:
    """IMDb's reviews, by part, in the order of their names."""
    named = dict(_from_folder(folder))
    for archive in [] if named else sorted(folder.glob("aclImdb*.tar.*")):
        named |= dict(tar_members(archive, REVIEW))
    parts: dict[str, list[Document]] = {"train": [], "test": []}
    for name, text in sorted(named.items()):
        if found := REVIEW.fullmatch(name):
            parts[found[1]].append((int(found[2] == "pos"), text))
    for part, documents in parts.items():
        if not documents:
            missing = f"{folder}/aclImdb/{part}/{{pos,neg}}/*.txt"
            raise UserError(f"{missing} is missing: put IMDb's reviews there, or aclImdb_v1.tar.gz in {folder}")
    return parts


def split_document(text: str) -> list[str]:
    """Lower-case words and punctuation marks. Marks of HTML are undone."""
    mended = re.sub(r"[ &]?#(\d+);", r"&#\1;", html.unescape(text))  # AG's News has lost the & of such marks
    return split_words(re.sub(r"<[^<>]{1,100}>", " ", html.unescape(mended)))


def encode(documents: Iterable[Document], numbers: dict[str, int]) -> Corpus:
    """One document or more as numbers, a new word getting the next one. One without words has the empty word."""
    words, lengths, labels = array("i"), array("q"), array("q")
    for label, text in documents:
        found = split_document(text) or [""]
        words.extend(numbers.setdefault(word, len(numbers)) for word in found)
        lengths.append(len(found))
        labels.append(label)
    counts = torch.tensor(lengths)
    starts = counts.cumsum(0) - counts
    return Corpus(torch.frombuffer(words, dtype=torch.int32), starts, counts, torch.tensor(labels))


def hold_out(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Nine of ten documents, and each tenth."""
    rows = torch.arange(len(corpus.labels))
    held_out = rows % HELD_OUT_OF == HELD_OUT_OF - 1
    return corpus.take(rows[~held_out]), corpus.take(rows[held_out])


def _from_folder(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.txt")):
        name = path.relative_to(folder).as_posix()
        if REVIEW.fullmatch(name):
            with open_text(path) as file:
                yield name, file.read()
