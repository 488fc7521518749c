"""GloVe's word vectors in their text format: a word and its numbers on each line, separated by spaces.

Letters: ``V`` words, ``D`` numbers of a vector.
"""

from array import array
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.data.files import open_text
from mnemon.errors import UserError


class WordVectors(NamedTuple):
    """Words in the order of the file, and a row for each."""

    words: list[str]
    vectors: Float[Tensor, "V D"]


def find_glove(root: Path) -> Path:
    """The one file ``glove*.txt`` or ``glove*.txt.gz`` under a folder, or in a folder ``glove*`` there."""
    patterns = ("glove*.txt", "glove*.txt.gz", "glove*/glove*.txt", "glove*/glove*.txt.gz")
    found = sorted({path for pattern in patterns for path in root.glob(pattern)})
    if not found:
        raise UserError(f"{root / 'glove*.txt'} is missing: put a file of GloVe vectors there, plain or as .gz")
    if len(found) > 1:
        raise UserError(f"{root} has several files of GloVe vectors: keep one of {', '.join(map(str, found))}")
    return found[0]


def read_glove(path: Path, wanted: Container[str]) -> WordVectors:
    """The vectors of the wanted words; others are skipped, so that a large file needs little memory."""
    words: list[str] = []
    numbers = array("f")
    size = 0
    with open_text(path) as file:
        for count, line in enumerate(file, start=1):
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
