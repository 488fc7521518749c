"""Prepared visits as tasks that models learn: views of codes in, a sequence or a set of codes out.

Letters: ``T`` codes of a view, ``A`` steps of the answer, ``B`` batch, ``O`` outputs, ``L`` labels, ``N`` examples.

An example is a visit; to predict what comes next, it is a patient, whose visits follow one another while the model's
memory persists. In a sequence the output 0 ends it, 1 is an unknown code, and the others are the vocabulary's; an
unknown code counts as one that was missed. In a set there is an output for each known code.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.ehr.metrics import sequence_metrics, set_metrics
from mnemon.ehr.prepared import SPLITS, Prepared
from mnemon.ehr.vocabulary import END as END_TOKEN
from mnemon.ehr.vocabulary import PAD
from mnemon.errors import look_up
from mnemon.tasks.base import Batch
from mnemon.tasks.labelled import Splits
from mnemon.tasks.scoring import bit_losses, class_loss
from mnemon.views import ViewSizes, Visit

CUTS = (1, 2, 3, 5)  # of the precision of the highest scores
END, UNKNOWN = 0, 1  # outputs of a sequence; a token is the output END_TOKEN later


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction(ABC):
    """One split of prepared visits.

    ``inputs`` are the views that are read; by default those of the task.
    """

    prepared: Prepared
    split: str
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        for view in self.inputs:
            look_up(self.prepared.views, view, "view in this folder")

    @property
    @abstractmethod
    def rows(self) -> Int[Tensor, "N"]:
        """The numbers of its examples: visits or patients."""

    @abstractmethod
    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The examples with these numbers."""

    @abstractmethod
    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """What training minimises."""

    @abstractmethod
    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> Any:
        """What of a batch is needed to measure a whole split."""

    @abstractmethod
    def measure(self, pooled: Sequence[Any]) -> dict[str, float]:
        """The metrics of all batches together."""

    @property
    @abstractmethod
    def output_size(self) -> int:
        """O."""

    @property
    def input_size(self) -> ViewSizes:
        """The vocabularies of the views, special tokens included."""
        sizes = tuple(len(self.prepared.vocabularies[view]) for view in self.inputs)
        return ViewSizes(sizes, "set" if self.prepared.task.as_set else "sequence")

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw examples, each with the same probability; one may come twice."""
        places = torch.randint(len(self.rows), (batch_size,), generator=generator, device=generator.device)
        return self.batch_of(self.rows[places.cpu()])

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every example once, in the order of the folder."""
        for rows in torch.split(self.rows, batch_size):
            yield self.batch_of(rows)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """Those of the batch alone."""
        return self.measure([self.pool(output, batch)])

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """The codes of the first visit of a row, by view, and the outputs that are right and that the model gave."""
        assert batch.visits is not None
        lines = {
            view: self.prepared.vocabularies[view].decode(tokens[: int(lengths[row]), row].tolist())
            for view, tokens, lengths in zip(self.inputs, *batch.visits[0], strict=True)
        }
        lines["target"] = self.named(batch.targets[:, row])
        if output is not None:
            lines["answer"] = self.named(output[:, row])
        width = max(len(name) for name in lines)
        return "\n".join(f"{name:{width}}  {' '.join(codes)}" for name, codes in lines.items())

    @abstractmethod
    def named(self, outputs: Float[Tensor, "A O"]) -> list[str]:
        """The codes that outputs stand for."""

    def visit(self, numbers: Sequence[int | None]) -> Visit:
        """The views of some visits, padded; None is a visit that there is not."""
        views, lengths = [], []
        for view in self.inputs:
            codes = self.prepared.views[view]
            rows = [codes.of(number).long() if number is not None else torch.zeros(0).long() for number in numbers]
            own = torch.tensor([len(row) for row in rows])
            padded = torch.full((max(1, int(own.max())), len(rows)), PAD)
            for place, row in enumerate(rows):
                padded[: len(row), place] = row
            views.append(padded)
            lengths.append(own)
        return Visit(tuple(views), tuple(lengths))


@dataclass(frozen=True, kw_only=True, eq=False)
class SequencePrediction(Prediction):
    """The codes of a visit in their order, from other codes of it."""

    @cached_property
    def rows(self) -> Int[Tensor, "N"]:
        """Visits."""
        return self.prepared.visits(self.split)

    @property
    def output_size(self) -> int:
        """The end, the unknown and the codes."""
        return len(self.prepared.vocabularies[self.prepared.task.target]) - END_TOKEN

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """Visits, each with its codes and an end."""
        return self._padded(rows, 1 + max(len(self.prepared.target(visit)) for visit in rows.tolist()))

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every example once. All may be answered at equal length, so that measures do not depend on the batches."""
        longest = 1 + max(len(self.prepared.target(visit)) for visit in self.rows.tolist())
        for rows in torch.split(self.rows, batch_size):
            yield self._padded(rows, longest)

    def _padded(self, rows: Int[Tensor, "B"], steps: int) -> Batch:
        answers = [[*(self.prepared.target(visit) - END_TOKEN).tolist(), END] for visit in rows.tolist()]
        lengths = torch.tensor([len(answer) for answer in answers])
        targets = torch.full((steps, len(rows)), END)
        for place, answer in enumerate(answers):
            targets[: len(answer), place] = torch.tensor(answer)
        return Batch(
            inputs=torch.zeros(steps, len(rows), 0, dtype=torch.float32),
            targets=one_hot(targets, self.output_size).to(torch.float32),
            mask=(torch.arange(steps).unsqueeze(1) < lengths).to(torch.float32),
            visits=(self.visit(rows.tolist()),),
        )

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked codes, in nats."""
        return class_loss(output, batch)

    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> tuple[list[list[int]], list[list[int]]]:
        """The codes of each row that were predicted, and those that are right."""
        predicted = [[code for code in row if code != UNKNOWN] for row in output.argmax(-1).T.tolist()]
        return predicted, batch.targets.argmax(-1).T.tolist()

    def measure(self, pooled: Sequence[Any]) -> dict[str, float]:
        """``precision``, ``jaccard`` and ``levenshtein``, over visits."""
        predicted, right = ([row for part in pooled for row in part[side]] for side in (0, 1))
        return sequence_metrics(predicted, right, END)

    def named(self, outputs: Float[Tensor, "A O"]) -> list[str]:
        """The codes up to the end."""
        found = outputs.argmax(-1).tolist()
        known = found[: found.index(END)] if END in found else found
        return self.prepared.vocabularies[self.prepared.task.target].decode([code + END_TOKEN for code in known])


@dataclass(frozen=True, kw_only=True, eq=False)
class SetPrediction(Prediction):
    """The set of codes of a visit, from other codes of it."""

    @cached_property
    def rows(self) -> Int[Tensor, "N"]:
        """Visits."""
        return self.prepared.visits(self.split)

    @property
    def output_size(self) -> int:
        """A label for each known code."""
        return self.prepared.labels

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """Visits, each answered once."""
        labels = self.prepared.label_rows(rows).to(torch.float32)
        return Batch(
            inputs=torch.zeros(1, len(rows), 0, dtype=torch.float32),
            targets=labels.unsqueeze(0),
            mask=torch.ones(1, len(rows), dtype=torch.float32),
            visits=(self.visit(rows.tolist()),),
        )

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The cross-entropy of all labels of an answer in nats, averaged over answers (Equation 4.20)."""
        return bit_losses(output, batch).sum() / batch.mask.sum()

    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> tuple[Tensor, Tensor]:
        """The probabilities and the labels of each answer that is asked."""
        asked = batch.mask > 0
        return torch.sigmoid(output[asked]).cpu(), batch.targets[asked].cpu()

    def measure(self, pooled: Sequence[Any]) -> dict[str, float]:
        """Those of :func:`mnemon.ehr.metrics.set_metrics`."""
        scores, labels = (torch.cat([part[side] for part in pooled]) for side in (0, 1))
        return measured(scores, labels)

    def named(self, outputs: Float[Tensor, "A O"]) -> list[str]:
        """The codes of the labels that are likelier than not, those of the first answer."""
        vocabulary = self.prepared.vocabularies[self.prepared.task.target]
        positive = outputs[0] > (0.5 if outputs.min() >= 0 and outputs.max() <= 1 else 0.0)
        return [vocabulary.codes[label] for label in positive.nonzero().flatten().tolist()]


@dataclass(frozen=True, kw_only=True, eq=False)
class ProgressionPrediction(SetPrediction):
    """The set of codes of each next visit, from all visits before it."""

    @cached_property
    def rows(self) -> Int[Tensor, "N"]:
        """Patients."""
        patients: Tensor = torch.unique(self.prepared.visit_patient[self.prepared.visits(self.split)])
        return patients

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """Patients, an answer after each of their visits but the last."""
        first = torch.searchsorted(self.prepared.visit_patient, rows)
        counts = torch.searchsorted(self.prepared.visit_patient, rows, right=True) - first - 1
        most = int(counts.max())
        targets = torch.zeros(most, len(rows), self.output_size, dtype=torch.float32)
        visits = []
        for place in range(most):
            there = place < counts
            targets[place, there] = self.prepared.label_rows((first + place)[there]).to(torch.float32)
            numbers = [int(first[row]) + place if there[row] else None for row in range(len(rows))]
            visits.append(self.visit(numbers))
        return Batch(
            inputs=torch.zeros(most, len(rows), 0, dtype=torch.float32),
            targets=targets,
            mask=(torch.arange(most).unsqueeze(1) < counts).to(torch.float32),
            visits=tuple(visits),
        )


def measured(scores: Any, labels: Any) -> dict[str, float]:
    """The measures of sets, always all of them: NaN where one is not defined."""
    found = set_metrics(scores, labels, cuts=CUTS)
    return {name: math.nan if value is None else float(value) for name, value in found.items()}


def prediction(prepared: Prepared, split: str, inputs: Sequence[str] | None = None) -> Prediction:
    """The task of a split of a prepared folder; ``inputs`` are the views to read, by default all."""
    look_up(dict.fromkeys(SPLITS), split, "split")
    task = prepared.task
    kind: type[Prediction] = SequencePrediction
    if task.as_set:
        kind = ProgressionPrediction if task.next_visit else SetPrediction
    return kind(prepared=prepared, split=split, inputs=task.inputs if inputs is None else tuple(inputs))


def predictions(prepared: Prepared, inputs: Sequence[str] | None = None) -> Splits:
    """All splits."""
    train, valid, test = (prediction(prepared, split, inputs) for split in SPLITS)
    return Splits(train, valid, test)
