"""What tasks call their channels and tokens, and whether they ask for bits."""

from collections.abc import Sequence
from typing import NamedTuple

from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.babi import Babi
from mnemon.tasks.babi_questions import BabiQuestions
from mnemon.tasks.base import Task
from mnemon.tasks.brackets import CLOSING, OPENING, Brackets
from mnemon.tasks.continual import Continual, Widened
from mnemon.tasks.dialogue import Dialogue
from mnemon.tasks.guided import Wrapping
from mnemon.tasks.labelled import LabelledTask
from mnemon.tasks.ngrams import CHANNELS, DynamicNGrams
from mnemon.tasks.sequences import OwnSequences
from mnemon.views import ViewSizes


class Names(NamedTuple):
    """What channels and tokens are called; those without a name are numbers."""

    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()


def names_of(task: Task) -> Names:
    """What a task calls its channels or tokens."""
    if isinstance(task, Wrapping | Widened):
        return names_of(task.task)
    if isinstance(task, Continual):
        return names_of(task.parts[0])
    if isinstance(task, AnsweringTask):
        return Names(task.input_channels, task.output_channels)
    if isinstance(task, DynamicNGrams):
        return Names(CHANNELS, CHANNELS)
    if isinstance(task, Brackets):
        opening, closing = OPENING[: task.kinds], CLOSING[: task.kinds]
        return Names([*opening, *closing], ["–", *closing])
    if isinstance(task, Babi):
        return Names(task.vocabulary, task.vocabulary)
    if isinstance(task, BabiQuestions):
        return Names(task.vocabulary, task.answers)
    if isinstance(task, OwnSequences):
        return Names(task.encoding.channels, task.classes)
    if isinstance(task, LabelledTask):
        return Names((), task.classes)
    if isinstance(task, Dialogue):
        words = task.wording.table.decode(range(len(task.wording.table)))
        return Names(words, words)
    return Names()


def name_of(token: int, names: Sequence[str]) -> str:
    """The name of a token or channel, or its number."""
    return names[token] if token < len(names) else str(token)


def asks_bits(task: Task) -> bool:
    """Whether each channel of input and answer is a yes or no of its own."""
    if isinstance(task, Wrapping | Widened):
        return asks_bits(task.task)
    is_set = isinstance(task.input_size, ViewSizes) and task.input_size.answer == "set"
    return is_set or isinstance(task, AnsweringTask | DynamicNGrams | Continual)
