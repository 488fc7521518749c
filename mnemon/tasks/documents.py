"""Document classification (thesis §6.5.6): read a document word by word, then name its class.

Each word is shown as its GloVe vector, which is fixed: the thesis says that words are "embedded using GloVe" and
nothing about learning the vectors. The vocabulary is the words of the training documents that have a vector; all others
are the zero vector. Documents are padded to the longest of their batch, and their lengths are kept.

The thesis names a validation set but not its size: here it is every tenth training document.

Letters: ``T`` time, ``B`` batch, ``V`` words of the vocabulary, ``D`` numbers of a word vector.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.data.documents import DOCUMENT_SETS, Corpus, hold_out, read_documents
from mnemon.data.glove import find_glove, read_glove
from mnemon.errors import UserError, look_up
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import LabelledTask, Splits, label_at_the_end
from mnemon.tasks.settings import check_at_least

UNKNOWN = 0  # the number of all words outside the vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class Documents(LabelledTask):
    """Show the word vectors of a document; ask for its class at its last word."""

    corpus: Corpus
    vocabulary: tuple[str, ...]  # by number, from UNKNOWN on
    vectors: Float[Tensor, "V D"]
    longest: int | None = None  # words read of a document; None: all

    def __post_init__(self) -> None:
        if self.longest is not None:
            check_at_least("Documents", 1, longest=self.longest)

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.corpus.labels)

    @property
    def input_size(self) -> int:
        """The numbers of a word vector, D."""
        return self.vectors.shape[1]

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The documents with these numbers."""
        lengths = self.corpus.lengths[rows]
        if self.longest is not None:
            lengths = lengths.clamp(max=self.longest)
        steps = torch.arange(int(lengths.max())).unsqueeze(1)
        inside = steps < lengths
        places = self.corpus.starts[rows] + steps.minimum(lengths - 1)
        inputs = self.vectors[self.corpus.words[places]] * inside.unsqueeze(-1)
        return label_at_the_end(inputs, self.corpus.labels[rows], len(self.classes), lengths)

    def render_input(self, batch: Batch, row: int) -> str:
        """The words of a document, those outside the vocabulary as ``·``."""
        shown = batch.inputs[:, row] if batch.lengths is None else batch.inputs[: int(batch.lengths[row]), row]
        return " ".join(self.vocabulary[int((self.vectors == word).all(-1).int().argmax())] for word in shown)


def documents(name: str, data: Path, *, glove: Path | None = None, longest: int | None = None) -> Splits:
    """One of the data sets of the thesis's appendix.

    Args:
        name: which one: imdb, ag-news, dbpedia, yelp-polarity, yelp-full or yahoo-answers.
        data: the folder that holds its folder.
        glove: the file of word vectors; by default the one in ``data``, or in a folder ``data/glove*``.
        longest: read no more words than this of a document; by default all.
    """
    known = look_up(DOCUMENT_SETS, name, "document set")
    numbers: dict[str, int] = {}
    training, test = read_documents(name, data, numbers)
    train, validation = hold_out(training)
    if not (len(validation.labels) and len(test.labels)):
        found = f"{len(training.labels)} training documents of {known.title}"
        raise UserError(f"{data} has {found}: ten or more are expected, as every tenth is held out")
    words = list(numbers)
    seen = {words[number] for number in words_of(train).bincount().nonzero().flatten().tolist()}
    glove_file = glove or find_glove(data)
    embedding = read_glove(glove_file, seen)
    if not embedding.words:
        raise UserError(f"{glove_file} has a vector for none of the words of {known.title}")
    renumbered = torch.full((len(words),), UNKNOWN, dtype=torch.int32)
    for number, word in enumerate(embedding.words, start=UNKNOWN + 1):
        renumbered[numbers[word]] = number
    vectors = torch.cat([torch.zeros_like(embedding.vectors[:1]), embedding.vectors])
    train, validation = hold_out(training._replace(words=renumbered[training.words]))
    test = test._replace(words=renumbered[test.words])
    shown, held_out, tested = (
        Documents(
            classes=known.classes,
            corpus=part,
            vocabulary=("·", *embedding.words),
            vectors=vectors,
            longest=longest,
        )
        for part in (train, validation, test)
    )
    return Splits(shown, held_out, tested)


def words_of(corpus: Corpus) -> Int[Tensor, "W"]:
    """The words of its documents, one document after the other."""
    ends = corpus.starts + corpus.lengths
    return torch.cat([corpus.words[s:e] for s, e in zip(corpus.starts.tolist(), ends.tolist(), strict=True)])
