"""Sets of conversations as tasks: what is trained on, and how it is tested.

The tests are ``validation``, guided through the responses of the validation part; ``test``, the model's own answers to
the contexts of the test part; and ``test, guided``, which bounds how likely the responses of the test part are.
"""

import warnings
from pathlib import Path

import torch

from mnemon.data.dialogue.catalogue import DIALOGUE_SETS
from mnemon.data.dialogue.conversations import Lengths
from mnemon.data.dialogue.split import split
from mnemon.data.glove import find_glove, has_glove, read_glove
from mnemon.data.notes import Notes
from mnemon.data.vocabulary import most_frequent
from mnemon.errors import UserError, look_up
from mnemon.tasks.dialogue import Dialogue, encode
from mnemon.tasks.guided import Guided
from mnemon.tasks.labelled import Splits
from mnemon.tasks.settings import check_at_least
from mnemon.tasks.spoken import SAMPLES, Spoken
from mnemon.tasks.text_scores import require_scores
from mnemon.tasks.wording import Wording
from mnemon.views import TokenVectors

WORDS = 5_000  # of the vocabulary; the thesis has 20,000 and 40,000
CONTEXTS = 1_000  # of a test, the first of a random order; the thesis takes all 10,000
GUIDED = "test, guided"


def dialogue(
    name: str,
    data: Path,
    *,
    words: int = WORDS,
    lengths: Lengths = Lengths(),  # noqa: B008 (a NamedTuple does not change)
    samples: int = SAMPLES,
    contexts: int | None = CONTEXTS,
) -> Splits:
    """One of the sets of conversations.

    Args:
        name: chit-chat, self-dialogue, cornell, open-subtitles or dialogue-pairs.
        data: the folder that holds its folder, and a file of GloVe vectors; dialogue-pairs does without the vectors.
        words: how many words the vocabulary has, the most frequent of the training part.
        lengths: how many words of a context and of a response count.
        samples: answers to each context in the test.
        contexts: how many pairs a test goes through; None: all.
    """
    check_at_least("dialogue", 1, words=words, **lengths._asdict())
    require_scores()
    known = look_up(DIALOGUE_SETS, name, "set of conversations")
    notes = Notes()
    parts = split(list(known.read(data, lengths, notes)), f"{known.title} in {data}")
    if (complaint := notes.complaint()) is not None:
        warnings.warn(f"{known.title}: {complaint}", stacklevel=2)
    wording = Wording.of(
        most_frequent((word for pair in parts.train for side in pair for word in side), words), lengths
    )
    vectors = _vectors(wording, data) if known.needs_vectors or has_glove(data) else None
    train, validation, test = (
        Dialogue(
            pairs=encode(part, wording),
            wording=wording,
            word_vectors=vectors,
            contexts=None if part is parts.train else contexts,
        )
        for part in parts
    )
    return Splits(train, Guided(task=validation), Spoken(task=test, samples=samples), {GUIDED: Guided(task=test)})


def _vectors(wording: Wording, data: Path) -> TokenVectors:
    path = find_glove(data)
    found = read_glove(path, set(wording.table.entries))
    if not found.words:
        raise UserError(f"{path} has a vector for none of the words of the conversations")
    return TokenVectors(torch.tensor(wording.table.encode(found.words)), found.vectors)
