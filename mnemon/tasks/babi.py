"""Question answering on bAbI (thesis §7.4.5; Weston et al., 2015): read stories word by word, and answer in between.

All 20 tasks are learnt together, as one set of stories. After a question the input is a dash for each word of its
answer, and the word is asked there. An answer is right if all its words are. The error of a task is the share of its
questions answered wrongly; a task fails above 5%.

Words are one-hot. The vocabulary is of all files: 156 words, two marks and the dash. Of the training stories each tenth
of a task is for validation, and those of more than 800 words are left out, as is common; neither is in the thesis.

Letters: ``T`` time, ``B`` batch, ``V`` words of the vocabulary, ``N`` stories, ``W`` words of all stories.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.data.babi import TASKS as TASKS
from mnemon.data.babi import Story, read_babi
from mnemon.data.files import data_folder
from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import Splits
from mnemon.tasks.sampling import shortest_first
from mnemon.tasks.scoring import class_loss, wrong_classes

NOT_ASKED = -1
FAILED = 0.05
HELD_OUT_OF = 10  # one training story of so many
LONGEST = 800  # words of a training story


@dataclass(frozen=True, kw_only=True, eq=False)
class Babi:
    """Show the words of a story; ask for the words of the answers where they belong::

    step    0     1   2     3  4         5      6   7     8  9
    input   mary  is  home  .  where     is     mary  ?   -  john …
    target                                               home
    """

    vocabulary: tuple[str, ...]
    words: Int[Tensor, "W"]
    asked: Int[Tensor, "W"]  # the word asked at each, or NOT_ASKED
    starts: Int[Tensor, "N"]
    lengths: Int[Tensor, "N"]
    numbers: Int[Tensor, "N"]  # of the task that each story is of

    @property
    def size(self) -> int:
        """How many stories there are, N."""
        return len(self.starts)

    @property
    def input_size(self) -> int:
        """The words, V."""
        return len(self.vocabulary)

    @property
    def output_size(self) -> int:
        """The words, V."""
        return len(self.vocabulary)

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The stories with these numbers, padded to the longest."""
        lengths = self.lengths[rows]
        steps = torch.arange(int(lengths.max())).unsqueeze(1)
        inside = steps < lengths
        places = self.starts[rows] + steps.minimum(lengths - 1)
        asked = torch.where(inside, self.asked[places], NOT_ASKED)
        mask = (asked != NOT_ASKED).to(torch.float32)
        return Batch(
            inputs=self._one_hot(self.words[places]) * inside.unsqueeze(-1),
            targets=self._one_hot(asked.clamp_min(0)) * mask.unsqueeze(-1),
            mask=mask,
            lengths=lengths,
            groups=self.numbers[rows],
        )

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw stories, each with the same probability; one may come twice.

        Batches of about one length would be of one task or two, and the questions of tasks that ask one of a story
        would then count several times as much as those of others.
        """
        return self.batch_of(torch.randint(self.size, (batch_size,), generator=generator))

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every story once, the shortest first, so that little is padded."""
        return map(self.batch_of, shortest_first(self.lengths, batch_size))

    def loss(self, output: Float[Tensor, "T B V"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked words, in nats."""
        return class_loss(output, batch)

    def counts(self, output: Float[Tensor, "T B V"], batch: Batch) -> dict[str, float]:
        """How many questions of each task were asked, and answered wrongly."""
        assert batch.groups is not None
        asked, wrong = answers(batch.mask > 0, wrong_classes(output, batch))
        return counts_by_task(asked, wrong, batch.groups)

    def rates(self, counts: dict[str, float]) -> dict[str, float]:
        """``mean_error`` over the tasks that were asked, how many of them ``failed``, then the ``error_…`` of each."""
        return error_rates(counts)

    def metrics(self, output: Float[Tensor, "T B V"], batch: Batch) -> dict[str, float]:
        """``error``, the share of wrong answers to all questions of the batch."""
        asked, wrong = answers(batch.mask > 0, wrong_classes(output, batch))
        return {"error": float(wrong.sum()) / float(asked.sum())}

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B V"] | None = None) -> str:
        """The words of a story; each asked one stands for its dash, with the model's beside it where that is wrong."""
        wrong = None if output is None else wrong_classes(output, batch)
        shown = []
        for step in range(len(batch.mask) if batch.lengths is None else int(batch.lengths[row])):
            if not batch.mask[step, row]:
                shown.append(self._word(batch.inputs[step, row]))
                continue
            target = f"[{self._word(batch.targets[step, row])}]"
            missed = output is not None and wrong is not None and bool(wrong[step, row])
            shown.append(f"{target}×{self._word(output[step, row])}" if missed and output is not None else target)
        return " ".join(shown)

    def _word(self, values: Float[Tensor, "V"]) -> str:
        return self.vocabulary[int(values.argmax())]

    def _one_hot(self, words: Int[Tensor, "T B"]) -> Float[Tensor, "T B V"]:
        return one_hot(words.long(), len(self.vocabulary)).to(torch.float32)


def answers(asked: Bool[Tensor, "T B"], wrong: Bool[Tensor, "T B"]) -> tuple[Bool[Tensor, "T B"], Bool[Tensor, "T B"]]:
    """Where a whole answer begins, and where one begins of which any word is wrong.

    The words of an answer follow one another, and between two answers there is a question.
    """
    begins = asked & ~torch.cat([torch.zeros_like(asked[:1]), asked[:-1]])
    number = begins.long().cumsum(0)  # of the answer that each step belongs to
    errors = torch.zeros(len(asked) + 1, asked.shape[1], device=asked.device).scatter_add_(0, number, wrong.float())
    return begins, begins & (errors.gather(0, number) > 0)


def counts_by_task(
    asked: Bool[Tensor, "T B"], wrong: Bool[Tensor, "T B"], numbers: Int[Tensor, "B"]
) -> dict[str, float]:
    """How many answers of each task begin, and how many of these are wrong."""
    counts = {}
    for number in sorted(set(numbers.tolist())):
        rows = numbers == number
        counts[f"asked_{number}"] = float(asked[:, rows].sum())
        counts[f"wrong_{number}"] = float(wrong[:, rows].sum())
    return counts


def error_rates(counts: dict[str, float]) -> dict[str, float]:
    """``mean_error`` over the tasks that were asked, how many of them ``failed``, then the ``error_…`` of each."""
    errors = {
        number: counts[f"wrong_{number}"] / counts[f"asked_{number}"]
        for number in TASKS
        if counts.get(f"asked_{number}")
    }
    return {
        "mean_error": sum(errors.values()) / len(errors),
        "failed": float(sum(error > FAILED for error in errors.values())),
        **{f"error_{number}": error for number, error in errors.items()},
    }


def babi(data: Path, *, longest: int | None = LONGEST) -> Splits:
    """bAbI from its archive, or its folder ``en-10k``, in ``data``, or in ``data/babi``.

    Args:
        data: the folder.
        longest: leave out training stories of more words than this; None: keep all.
    """
    stories = read_babi(data_folder(data, "babi"))
    words = {word for part in stories.values() for story in part for word in (*story.words, *story.asked) if word}
    vocabulary = tuple(sorted(words))
    train: list[tuple[int, Story]] = []
    validation: list[tuple[int, Story]] = []
    for number in TASKS:
        kept = [story for story in stories[number, "train"] if longest is None or len(story.words) <= longest]
        for row, story in enumerate(kept):
            (validation if row % HELD_OUT_OF == HELD_OUT_OF - 1 else train).append((number, story))
    test = [(number, story) for number in TASKS for story in stories[number, "test"]]
    if not (train and validation):
        raise UserError(f"{data} has too few training stories: ten or more of a task, of {longest} words at most")
    return Splits(_encode(train, vocabulary), _encode(validation, vocabulary), _encode(test, vocabulary))


def _encode(stories: Sequence[tuple[int, Story]], vocabulary: tuple[str, ...]) -> Babi:
    places = {word: number for number, word in enumerate(vocabulary)}
    lengths = torch.tensor([len(story.words) for _, story in stories])
    return Babi(
        vocabulary=vocabulary,
        words=torch.tensor([places[word] for _, story in stories for word in story.words], dtype=torch.int32),
        asked=torch.tensor(
            [NOT_ASKED if word is None else places[word] for _, story in stories for word in story.asked],
            dtype=torch.int32,
        ),
        starts=lengths.cumsum(0) - lengths,
        lengths=lengths,
        numbers=torch.tensor([number for number, _ in stories]),
    )
