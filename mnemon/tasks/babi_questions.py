"""Question answering on bAbI by sentences (Weston et al., 2015): a story, a question about it, and one answer.

Memory networks (thesis §3.3.2) keep a story as sentences and see the question by itself, so here each question is a
sequence of its own, with two views: the words of the story told so far, each sentence ended by the token 0, and those
of the question. All answers there are, of one word or of several, are classes. All 20 tasks are learnt together; each
has the same share of the questions drawn. Errors are counted as in :mod:`mnemon.tasks.babi`.

Where the supporting facts are asked too, as MemNN needs them, an answer has several steps: the sentences that tell the
answer, one after the other, then that these are enough, and at the last step the answer itself. A sentence is named by
how many come after it. Only the last step counts for the errors.

Of a story the last 50 sentences are shown, as is common. Of the training stories each tenth of a task is for
validation, as in :mod:`mnemon.tasks.babi`.

Letters: ``B`` batch, ``T`` words of a story, ``A`` steps of the answer, ``O`` answers, and sentences where they are
named, ``V`` words of the vocabulary, ``N`` questions, ``W`` words of all stories, ``Q`` of all questions, ``F`` facts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.data.babi import TASKS, Tale, read_tales
from mnemon.data.files import data_folder
from mnemon.errors import UserError
from mnemon.tasks.babi import HELD_OUT_OF, counts_by_task, error_rates
from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import END
from mnemon.tasks.labelled import Splits
from mnemon.tasks.sampling import BATCHES_DRAWN, neighbours_in_length, shortest_first
from mnemon.tasks.scoring import class_loss, wrong_classes
from mnemon.views import ViewSizes, Visit

SENTENCES = 50  # of a story, the last ones
FACTS = 4  # named at most; two percent of the questions have more
NO_FACT = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class BabiQuestions:
    """Show the words of a story and of a question; ask for the answer::

    story     mary went home 0 john went out 0        question  where is mary 0
    answer    home                                    with facts: 1, enough, home
    """

    vocabulary: tuple[str, ...]  # the first is the end of a sentence
    answers: tuple[str, ...]
    sentences: int  # of a story at most
    words: Int[Tensor, "W"]  # of all stories
    starts: Int[Tensor, "N"]  # of the story of each question in them
    lengths: Int[Tensor, "N"]
    question_words: Int[Tensor, "Q"]
    question_starts: Int[Tensor, "N"]
    question_lengths: Int[Tensor, "N"]
    labels: Int[Tensor, "N"]
    facts: Int[Tensor, "N F"]  # how many sentences come after each, or NO_FACT; none where they are not asked
    numbers: Int[Tensor, "N"]  # of the task that each question is of, from the lowest

    @property
    def size(self) -> int:
        """How many questions there are, N."""
        return len(self.starts)

    @property
    def input_size(self) -> ViewSizes:
        """Two views, both of all words."""
        return ViewSizes((len(self.vocabulary),) * 2, "sequence")

    @property
    def output_size(self) -> int:
        """The answers; where facts are asked then "enough" and each sentence, the last first."""
        return len(self.answers) + (1 + self.sentences if self.facts.shape[1] else 0)

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The questions with these numbers, padded to the longest."""
        story = _take(self.words, self.starts[rows], self.lengths[rows])
        question = _take(self.question_words, self.question_starts[rows], self.question_lengths[rows])
        classes, mask = self._asked(rows)
        return Batch(
            inputs=torch.zeros(len(mask), len(rows), 0),
            targets=one_hot(classes, self.output_size).to(torch.float32) * mask.unsqueeze(-1),
            mask=mask,
            groups=self.numbers[rows],
            visits=(Visit((story, question), (self.lengths[rows], self.question_lengths[rows])),),
        )

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw tasks, each with the same probability, and questions of them; one may come twice.

        They are a few neighbours in length out of many that were drawn, so that little is padded.
        """
        counts = self._of_each_task
        firsts = counts.cumsum(0) - counts
        kind = torch.randint(len(counts), (batch_size * BATCHES_DRAWN,), generator=generator)
        share = torch.rand(len(kind), generator=generator, dtype=torch.float64)
        drawn = firsts[kind] + (share * counts[kind]).long()
        return self.batch_of(neighbours_in_length(drawn, self.lengths, generator))

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every question once, those of the shortest stories first, so that little is padded."""
        return map(self.batch_of, shortest_first(self.lengths, batch_size))

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of what is asked, in nats."""
        return class_loss(output, batch)

    def counts(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """How many questions of each task were asked, and answered wrongly."""
        assert batch.groups is not None
        return counts_by_task(batch.mask[-1:] > 0, wrong_classes(output, batch)[-1:], batch.groups)

    def rates(self, counts: dict[str, float]) -> dict[str, float]:
        """``mean_error`` over the tasks that were asked, how many of them ``failed``, then the ``error_…`` of each."""
        return error_rates(counts)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``error``, the share of wrong answers."""
        return {"error": float(wrong_classes(output, batch)[-1].float().mean())}

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """The sentences, the question, and the answer, with the model's beside it where that is wrong."""
        assert batch.visits is not None
        story, question = (
            self._text(view[: int(own[row]), row])
            for view, own in zip(batch.visits[0].views, batch.visits[0].lengths, strict=True)
        )
        steps = [step for step in range(len(batch.mask)) if batch.mask[step, row]]
        shown = [self._class(int(batch.targets[step, row].argmax())) for step in steps]
        lines = [*(f"{sentence}." for sentence in story), f"{question[0]}?", f"target  {', '.join(shown)}"]
        if output is not None:
            said = [self._class(int(output[step, row].argmax())) for step in steps]
            mark = " ×" if bool(wrong_classes(output, batch)[-1, row]) else ""
            lines.append(f"answer  {', '.join(said)}{mark}")
        return "\n".join(lines)

    @cached_property
    def _of_each_task(self) -> Int[Tensor, "_"]:
        """How many questions the first task has, the second, and so on."""
        counts = torch.bincount(self.numbers)
        return counts[counts > 0]

    def _asked(self, rows: Int[Tensor, "B"]) -> tuple[Int[Tensor, "A B"], Float[Tensor, "A B"]]:
        """The class of each step, and where there is one."""
        label = self.labels[rows].unsqueeze(0)
        if not self.facts.shape[1]:
            return label, torch.ones(label.shape)
        enough = len(self.answers)
        facts = self.facts[rows].T
        named = facts != NO_FACT
        first_without = (~named).long().cumsum(0) == 1
        classes = torch.cat([torch.where(named, facts + enough + 1, enough), label])
        mask = torch.cat([named | first_without, torch.ones_like(label, dtype=torch.bool)])
        return torch.where(mask, classes, 0), mask.to(torch.float32)

    def _class(self, number: int) -> str:
        enough = len(self.answers)
        if number < enough:
            return self.answers[number]
        return "enough" if number == enough else f"{number - enough - 1} back"

    def _text(self, tokens: Int[Tensor, "T"]) -> list[str]:
        words = " ".join("." if token == END else self.vocabulary[token] for token in tokens.tolist())
        return [sentence.strip() for sentence in words.split(".")[:-1]] or [""]


def _take(words: Int[Tensor, "_"], starts: Int[Tensor, "B"], lengths: Int[Tensor, "B"]) -> Int[Tensor, "T B"]:
    """Pieces of a long row of words, padded with the end of a sentence."""
    steps = torch.arange(int(lengths.max())).unsqueeze(1)
    places = (starts + steps.minimum(lengths - 1)).clamp(0, max(0, len(words) - 1))
    return torch.where(steps < lengths, words[places] if len(words) else END, END).long()


def babi_questions(data: Path, *, facts: bool = False, sentences: int = SENTENCES) -> Splits:
    """bAbI from its archive, or its folder ``en-10k``, in ``data``, or in ``data/babi``.

    Args:
        data: the folder.
        facts: ask for the supporting facts as well.
        sentences: of a story at most, the last ones.
    """
    if sentences < 1:
        raise UserError(f"babi_questions(sentences={sentences}): write 1 or more")
    tales = read_tales(data_folder(data, "babi"))
    every = [tale for part in tales.values() for tale in part]
    asked = [question for tale in every for question in tale.questions]
    told = {sentence for tale in every for sentence in tale.sentences}
    said = told | {question.words for question in asked}
    vocabulary = (".", *sorted({word for sentence in said for word in sentence}))
    answers = tuple(sorted({question.answer for question in asked}))
    train: list[tuple[int, Tale]] = []
    validation: list[tuple[int, Tale]] = []
    for number in TASKS:
        for row, tale in enumerate(tales[number, "train"]):
            (validation if row % HELD_OUT_OF == HELD_OUT_OF - 1 else train).append((number, tale))
    if not validation:
        raise UserError(f"{data} has too few training stories: {HELD_OUT_OF} or more of a task")
    test = [(number, tale) for number in TASKS for tale in tales[number, "test"]]
    parts = [_encode(part, vocabulary, answers, facts, sentences) for part in (train, validation, test)]
    return Splits(parts[0], parts[1], parts[2])


def _encode(
    tales: Sequence[tuple[int, Tale]], vocabulary: tuple[str, ...], answers: tuple[str, ...], facts: bool, longest: int
) -> BabiQuestions:
    places = {word: number for number, word in enumerate(vocabulary)}

    @cache
    def tokens(sentence: tuple[str, ...]) -> list[int]:
        return [*(places[word] for word in sentence), END]

    labels = {answer: number for number, answer in enumerate(answers)}
    words: list[int] = []
    question_words: list[int] = []
    columns: list[tuple[int, ...]] = []  # start, length, those of the question, label, task
    named: list[list[int]] = []
    for number, tale in tales:
        begins = [len(words)]  # where each sentence does, and where the last one ends
        for sentence in tale.sentences:
            words += tokens(sentence)
            begins.append(len(words))
        for question in tale.questions:
            start = begins[max(0, question.told - longest)]
            asked = tokens(question.words)
            spans = (start, begins[question.told] - start, len(question_words), len(asked))
            columns.append((*spans, labels[question.answer], number))
            question_words += asked
            back = [question.told - 1 - place for place in question.facts]
            kept = [fact for fact in back if fact < longest][: FACTS if facts else 0]
            named.append([*kept, *[NO_FACT] * ((FACTS if facts else 0) - len(kept))])
    table = torch.tensor(columns).T
    return BabiQuestions(
        vocabulary=vocabulary,
        answers=answers,
        sentences=longest,
        words=torch.tensor(words, dtype=torch.int32),
        starts=table[0],
        lengths=table[1],
        question_words=torch.tensor(question_words, dtype=torch.int32),
        question_starts=table[2],
        question_lengths=table[3],
        labels=table[4],
        facts=torch.tensor(named, dtype=torch.int64).view(len(named), -1),
        numbers=table[5],
    )
