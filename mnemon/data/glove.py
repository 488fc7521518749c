"""Word vectors in the text format of GloVe: a word and its numbers on each line, separated by spaces.

The text format of word2vec is the same after a first line that says how many words and numbers there are.

Letters: ``V`` words, ``D`` numbers of a vector.
"""

import re
from array import array
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.data.files import open_text
from mnemon.errors import UserError

SIZES = re.compile(r"\d+ \d+\s*")  # the first line of word2vec's format


class WordVectors(NamedTuple):
    """Words in the order of the file, and a row for each."""

    words: list[str]
    vectors: Float[Tensor, "V D"]


def find_glove(root: Path) -> Path:
    """The one file ``glove*.txt`` or ``word2vec*.txt``, plain or as .gz, in a folder or in one of such a name there."""
    found = _glove_files(root)
    if not found:
        raise UserError(f"{root / 'glove*.txt'} is missing: put a file of GloVe vectors there, plain or as .gz")
    if len(found) > 1:
        raise UserError(f"{root} has several files of word vectors: keep one of {', '.join(map(str, found))}")
    return found[0]


def has_glove(root: Path) -> bool:
    """Whether there is a file of word vectors to be found."""
    return bool(_glove_files(root))


def _glove_files(root: Path) -> list[Path]:
    names = [f"{name}*.txt{packed}" for name in ("glove", "word2vec") for packed in ("", ".gz")]
    patterns = [*names, *(f"{name.split('.')[0]}/{name}" for name in names)]
    return sorted({path for pattern in patterns for path in root.glob(pattern)})


def read_glove(path: Path, wanted: Container[str]) -> WordVectors:
    """The vectors of the wanted words; others are skipped, so that a large file needs little memory."""
    words: list[str] = []
    numbers = array("f")
    size = 0
    with open_text(path) as file:
        for count, line in enumerate(file, start=1):
            if count == 1 and SIZES.fullmatch(line):
                continue
            size = size or len(line.split()) - 1
            word, *fields = line.rstrip("\r\n").rsplit(" ", size)  # from the right: a few words have a space in them
            if not size or len(fields) != size:
                raise UserError(f"{path} line {count} is not a word and {size or 'its'} numbers")
            if word in wanted:
                words.append(word)
                numbers.extend(_numbers(path, count, fields))
    if not size:
        raise UserError(f"{path} is empty: lines of a word and its numbers are expected")
    return WordVectors(words, torch.tensor(numbers, dtype=torch.float32).view(len(words), size))


def _numbers(path: Path, line: int, fields: list[str]) -> list[float]:
    try:
        return [float(field) for field in fields]
    except ValueError as error:
        raise UserError(f"{path} line {line} is not a word and {len(fields)} numbers") from error
