"""The tasks by name, with the settings of the thesis: the appendix's tables "Task settings" of chapter 7, and §6.5.

Bracket matching stands for what the thesis says of stacks, without a table; its settings are ours. Tasks that the
thesis does not have say so: their place in it is "beyond", and their ``thesis_test`` the one that counts.

In chapter 6 each length is trained and tested by itself; here training is at 50, and 100 tests how far that carries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mnemon.errors import UserError, look_up
from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.associative_recall import AssociativeRecall
from mnemon.tasks.babi import babi
from mnemon.tasks.babi_questions import babi_questions
from mnemon.tasks.base import Task
from mnemon.tasks.brackets import Brackets
from mnemon.tasks.continual import Continual, Widened
from mnemon.tasks.copy import Copy
from mnemon.tasks.dialogue_sets import dialogue
from mnemon.tasks.documents import documents
from mnemon.tasks.guided import Guided
from mnemon.tasks.labelled import Splits
from mnemon.tasks.multi_modal import ModeCoverage, MultiModal
from mnemon.tasks.multi_query_recall import MultiQueryRecall
from mnemon.tasks.ngrams import DynamicNGrams
from mnemon.tasks.odd_even import OddEven
from mnemon.tasks.omniglot import omniglot
from mnemon.tasks.pixels import mnist
from mnemon.tasks.priority_sort import PrioritySort
from mnemon.tasks.repeat_copy import RepeatCopy
from mnemon.tasks.sequences import own_sequences
from mnemon.tasks.sequencing import Sequencing
from mnemon.tasks.sinusoid import Sinusoid
from mnemon.tasks.sum_of_two import SumOfTwo
from mnemon.tasks.tokens import Add, Double, Max, Reverse, TokenCopy, TokenTask

SINGLE_TASKS = "§7.4.1, appendix"
PERSISTENT_EPISODES = 4  # that follow one another without the memory being erased


@dataclass(frozen=True, kw_only=True)
class TaskEntry:
    """A task to train on and the tests of what was learnt, by label; ``thesis_test`` is the thesis's own."""

    summary: str
    thesis: str
    file: str
    train: Task
    tests: dict[str, Task]
    thesis_test: str

    def __post_init__(self) -> None:
        if self.thesis_test not in self.tests:
            labels = ", ".join(self.tests)
            raise UserError(f"TaskEntry(thesis_test={self.thesis_test!r}): write one of its tests: {labels}")


def _token_entry(task: type[TokenTask], *, summary: str, thesis: str) -> TaskEntry:
    return TaskEntry(
        summary=summary,
        thesis=f"{thesis}, appendix",
        file="mnemon/tasks/tokens.py",
        train=task(length=50),
        tests={f"length {length}": task(length=length) for length in (50, 100)},
        thesis_test="length 50",
    )


def _sinusoid_entry(task: Sinusoid, *, summary: str) -> TaskEntry:
    return TaskEntry(
        summary=summary,
        thesis="§6.5.4",
        file="mnemon/tasks/sinusoid.py",
        train=task,
        tests={"length 100": task},
        thesis_test="length 100",
    )


def _sequencing_entry(names: str, train: Sequencing, test: Sequencing, label: str) -> TaskEntry:
    return TaskEntry(
        summary=f"{names} in one sequence, in the order shown at its beginning.",
        thesis="§7.4.2, appendix",
        file="mnemon/tasks/sequencing.py",
        train=train,
        tests={label: test},
        thesis_test=label,
    )


def _copy_and(
    part: Callable[..., AnsweringTask], names: str, *, train: dict[str, int], test: dict[str, int], label: str
) -> TaskEntry:
    """Copy of 1 to 10 items, and of 10 to 20 in the test, with another task."""
    return _sequencing_entry(
        names,
        Sequencing(parts=(Copy(min_length=1, max_length=10), part(**train))),
        Sequencing(parts=(Copy(min_length=10, max_length=20), part(**test))),
        f"length 10-20, {label}",
    )


def _continual_entry() -> TaskEntry:
    parts = {
        "copy": Copy(min_length=1, max_length=10),
        "repeat copy": RepeatCopy(min_length=1, max_length=5, min_repeats=1, max_repeats=5, count_range=(1, 5)),
        "associative recall": AssociativeRecall(item_length=3, min_items=2, max_items=3),
        "priority sort": PrioritySort(items=10, sorted_items=8),
    }
    tests = {name: Widened(task=task, input_size=10, output_size=9) for name, task in parts.items()}
    return TaskEntry(
        summary="Copy, repeat copy, associative recall and priority sort, learnt one after the other.",
        thesis="§7.4.3, appendix",
        file="mnemon/tasks/continual.py",
        train=Continual(parts=tuple(tests.values())),
        tests=dict(tests),
        thesis_test="copy",
    )


TASKS: dict[str, TaskEntry] = {
    "copy": TaskEntry(
        summary="Repeat a sequence of random items.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/copy.py",
        train=Copy(min_length=1, max_length=20),
        tests={f"length {length}": Copy(min_length=length, max_length=length) for length in (20, 60, 120)},
        thesis_test="length 120",
    ),
    "repeat-copy": TaskEntry(
        summary="Repeat a sequence as often as asked, then say that it is over.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/repeat_copy.py",
        train=RepeatCopy(min_length=1, max_length=10, min_repeats=1, max_repeats=10),
        tests={
            "length 10-20, repeats 10-20": RepeatCopy(
                min_length=10, max_length=20, min_repeats=10, max_repeats=20, count_range=(1, 10)
            )
        },
        thesis_test="length 10-20, repeats 10-20",
    ),
    "associative-recall": TaskEntry(
        summary="Given an item of a list, say which one came after it.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/associative_recall.py",
        train=AssociativeRecall(item_length=3, min_items=2, max_items=6),
        tests={"items 6-20": AssociativeRecall(item_length=3, min_items=6, max_items=20)},
        thesis_test="items 6-20",
    ),
    "ngrams": TaskEntry(
        summary="Predict the next bit of a random 6-gram source from what it has shown so far.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/ngrams.py",
        train=DynamicNGrams(length=50),
        tests={"length 50": DynamicNGrams(length=50), "length 200": DynamicNGrams(length=200)},
        thesis_test="length 200",
    ),
    "priority-sort": TaskEntry(
        summary="Give back items in the order of their priorities.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/priority_sort.py",
        train=PrioritySort(items=20, sorted_items=16),
        tests={"sorted 20 of 20": PrioritySort(items=20, sorted_items=20)},
        thesis_test="sorted 20 of 20",
    ),
    "long-copy": TaskEntry(
        summary="Copy, trained on sequences twice as long.",
        thesis=SINGLE_TASKS,
        file="mnemon/tasks/copy.py",
        train=Copy(min_length=1, max_length=40),
        tests={"length 200": Copy(min_length=200, max_length=200)},
        thesis_test="length 200",
    ),
    "copy-and-repeat-copy": _copy_and(
        RepeatCopy,
        "Copy and repeat copy",
        train={"min_length": 1, "max_length": 10, "min_repeats": 1, "max_repeats": 10},
        test={"min_length": 10, "max_length": 20, "min_repeats": 10, "max_repeats": 15},
        label="repeats 10-15",
    ),
    "copy-and-associative-recall": _copy_and(
        AssociativeRecall,
        "Copy and associative recall",
        train={"bits": 8, "item_length": 8, "min_items": 2, "max_items": 4},
        test={"bits": 8, "item_length": 8, "min_items": 4, "max_items": 6},
        label="items 4-6",
    ),
    "copy-and-priority-sort": _copy_and(
        PrioritySort,
        "Copy and priority sort",
        train={"items": 10, "sorted_items": 8},
        test={"items": 10, "sorted_items": 10},
        label="sorted 10 of 10",
    ),
    "four-in-sequence": _sequencing_entry(
        "Copy, repeat copy, associative recall and priority sort",
        Sequencing(
            parts=(
                Copy(min_length=1, max_length=10),
                RepeatCopy(min_length=1, max_length=10, min_repeats=1, max_repeats=5, count_range=(1, 5)),
                AssociativeRecall(bits=8, item_length=6, min_items=2, max_items=4),
                PrioritySort(items=10, sorted_items=8),
            )
        ),
        Sequencing(
            parts=(
                Copy(min_length=10, max_length=20),
                RepeatCopy(min_length=10, max_length=20, min_repeats=6, max_repeats=6, count_range=(1, 5)),
                AssociativeRecall(bits=8, item_length=6, min_items=5, max_items=5),
                PrioritySort(items=10, sorted_items=10),
            )
        ),
        "length 10-20, 6 repeats, 5 items, sorted 10 of 10",
    ),
    "continual": _continual_entry(),
    "odd-even": TaskEntry(
        summary="Double odd numbers, then count on from the last of them.",
        thesis="§4.5.1",
        file="mnemon/tasks/odd_even.py",
        train=OddEven(),
        tests={"length 1-20": OddEven()},
        thesis_test="length 1-20",
    ),
    "sum-of-two": TaskEntry(
        summary="Add two sequences of numbers, one of them backwards.",
        thesis="§4.5.3",
        file="mnemon/tasks/sum_of_two.py",
        train=SumOfTwo(),
        tests={f"length 1-{longest}": SumOfTwo(max_length=longest) for longest in (10, 15, 20)},
        thesis_test="length 1-10",
    ),
    "multi-modal": TaskEntry(
        summary="Give one of several right answers, of which none is likelier.",
        thesis="§5.1",
        file="mnemon/tasks/multi_modal.py",
        train=MultiModal(),
        tests={"bounds": Guided(task=MultiModal()), "coverage": ModeCoverage(task=MultiModal())},
        thesis_test="coverage",
    ),
    "token-copy": _token_entry(TokenCopy, summary="Repeat a sequence of tokens.", thesis="§6.5.2"),
    "double": _token_entry(Double, summary="Repeat a sequence of tokens twice.", thesis="§6.5.1"),
    "reverse": _token_entry(Reverse, summary="Repeat a sequence of tokens backwards.", thesis="§6.5.2"),
    "add": _token_entry(Add, summary="Average tokens from both ends of a sequence inwards.", thesis="§6.5.3"),
    "max": _token_entry(Max, summary="Give the larger of each two neighbouring tokens.", thesis="§6.5.3"),
    "brackets": TaskEntry(
        summary="Say which bracket may be closed next.",
        thesis="§3.3.1",
        file="mnemon/tasks/brackets.py",
        train=Brackets(max_pairs=20),
        tests={f"{pairs} pairs": Brackets(min_pairs=pairs, max_pairs=pairs) for pairs in (20, 40)},
        thesis_test="40 pairs",
    ),
    "sinusoid": _sinusoid_entry(Sinusoid(length=100), summary="Continue a sinusoid from points of it."),
    "noisy-sinusoid": _sinusoid_entry(
        Sinusoid(length=100, noise=2.0), summary="Continue a sinusoid from noisy points of it."
    ),
    "multi-query-recall": TaskEntry(
        summary="Given pairs of keys and values, give the value of every key.",
        thesis="beyond",
        file="mnemon/tasks/multi_query_recall.py",
        train=MultiQueryRecall(max_pairs=8),
        tests={f"{pairs} pairs": MultiQueryRecall(min_pairs=pairs, max_pairs=pairs) for pairs in (2, 4, 8, 12, 16)},
        thesis_test="8 pairs",
    ),
}


@dataclass(frozen=True, kw_only=True)
class DataTaskEntry:
    """A task over a data set, which is read when it is asked for."""

    summary: str
    thesis: str
    file: str
    read: Callable[[Path], Splits]

    def open(self, data: Path) -> TaskEntry:
        """The task with the data of a folder: training, and tests on the validation and test parts."""
        splits = self.read(data)
        return TaskEntry(
            summary=self.summary,
            thesis=self.thesis,
            file=self.file,
            train=splits.train,
            tests={
                **({} if splits.validation is None else {"validation": splits.validation}),
                "test": splits.test,
                **splits.more,
            },
            thesis_test="test",
        )


def _pixel_entry(*, summary: str, permuted: bool) -> DataTaskEntry:
    read = partial(mnist, permuted=permuted)
    return DataTaskEntry(summary=summary, thesis="§6.5.5", file="mnemon/tasks/pixels.py", read=read)


def _document_entry(name: str, *, summary: str) -> DataTaskEntry:
    read = partial(documents, name)
    return DataTaskEntry(summary=summary, thesis="§6.5.6, appendix", file="mnemon/tasks/documents.py", read=read)


def _omniglot_entry(classes: int, *, episodes: int = 1) -> DataTaskEntry:
    persistent = ", with a memory that persists between episodes" if episodes > 1 else ""
    return DataTaskEntry(
        summary=f"Name drawings of {classes} characters never seen before{persistent}.",
        thesis="§7.4.4, appendix",
        file="mnemon/tasks/omniglot.py",
        read=partial(omniglot, classes=classes, episodes=episodes),
    )


def _babi_question_entry(*, facts: bool) -> DataTaskEntry:
    named = ", and name the sentences that tell it" if facts else ""
    return DataTaskEntry(
        summary=f"Answer a question about a story in sentences{named}.",
        thesis="§3.3.2, §7.4.5",
        file="mnemon/tasks/babi_questions.py",
        read=partial(babi_questions, facts=facts),
    )


def _dialogue_entry(name: str, *, summary: str) -> DataTaskEntry:
    read = partial(dialogue, name)
    return DataTaskEntry(summary=summary, thesis="§5.4, appendix", file="mnemon/tasks/dialogue.py", read=read)


DATA_TASKS: dict[str, DataTaskEntry] = {
    "csv": DataTaskEntry(
        summary="Say the labels of sequences of your own, from train.csv.",
        thesis="beyond",
        file="mnemon/tasks/sequences.py",
        read=own_sequences,
    ),
    "mnist": _pixel_entry(summary="Name a digit after reading its image pixel by pixel.", permuted=False),
    "permuted-mnist": _pixel_entry(summary="The same with the pixels in one random order.", permuted=True),
    "omniglot-5": _omniglot_entry(5),
    "omniglot-10": _omniglot_entry(10),
    "omniglot-5-persistent": _omniglot_entry(5, episodes=PERSISTENT_EPISODES),
    "omniglot-10-persistent": _omniglot_entry(10, episodes=PERSISTENT_EPISODES),
    "babi": DataTaskEntry(
        summary="Answer questions about stories, 20 kinds of them together.",
        thesis="§7.4.5, appendix",
        file="mnemon/tasks/babi.py",
        read=babi,
    ),
    "babi-questions": _babi_question_entry(facts=False),
    "babi-facts": _babi_question_entry(facts=True),
    "chit-chat": _dialogue_entry("chit-chat", summary="Answer in a conversation of two strangers."),
    "self-dialogue": _dialogue_entry("self-dialogue", summary="Answer in a conversation about a topic."),
    "cornell": _dialogue_entry("cornell", summary="Answer as characters of films do."),
    "open-subtitles": _dialogue_entry("open-subtitles", summary="Say what is said next in a film."),
    "dialogue-pairs": _dialogue_entry("dialogue-pairs", summary="Answer as in a file of contexts and responses."),
    "imdb": _document_entry("imdb", summary="Tell whether a film review is favourable."),
    "ag-news": _document_entry("ag-news", summary="Name the section of a news item."),
    "dbpedia": _document_entry("dbpedia", summary="Name the kind of thing that a text describes."),
    "yelp-polarity": _document_entry("yelp-polarity", summary="Tell whether a review is favourable."),
    "yelp-full": _document_entry("yelp-full", summary="Tell the stars of a review."),
    "yahoo-answers": _document_entry("yahoo-answers", summary="Name the topic of a question and its answer."),
}


def find_task(name: str, data: Path | None = None) -> TaskEntry:
    """The entry of that name; a task over a data set needs the folder ``data``."""
    entries: dict[str, TaskEntry | DataTaskEntry] = {**TASKS, **DATA_TASKS}
    entry = look_up(entries, name, "task")
    if isinstance(entry, TaskEntry):
        return entry
    if data is None:
        raise UserError(f"task {name!r} needs its data: write --data and the folder that holds them")
    return entry.open(data)
