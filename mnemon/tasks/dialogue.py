"""Dialogue (thesis §5.4): read what was said, and say something in return.

The context is all the chat before, of which the last 20 words are read; of the response the first 10 words are asked
for, and its end. The most frequent words of the training part are tokens, and all others are one, the unknown.

What training minimises is the mean cross-entropy of the words and the end. A test either guides a model through the
right responses (:mod:`mnemon.tasks.guided`), or lets it answer by itself (:mod:`mnemon.tasks.spoken`).

Deviations: the thesis's data sets are other ones, some of them not public. Its words are split by a program that it
does not name, ours by :mod:`mnemon.data.words`.

Letters: ``N`` pairs, ``C`` words of a context and its end, ``A`` of a response and its end, ``B`` batch, ``O`` tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.data.dialogue.conversations import Pair
from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import END
from mnemon.tasks.scoring import class_loss, class_metrics
from mnemon.tasks.settings import check_at_least
from mnemon.tasks.wording import Wording
from mnemon.views import TokenVectors, ViewSizes, Visit


class EncodedPairs(NamedTuple):
    """Contexts and responses as tokens, each with an end, the rest of its row filled up with ends."""

    contexts: Int[Tensor, "N C"]
    context_lengths: Int[Tensor, "N"]
    responses: Int[Tensor, "N A"]
    response_lengths: Int[Tensor, "N"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialogue:
    """Show a context; ask for the response."""

    pairs: EncodedPairs
    wording: Wording
    word_vectors: TokenVectors | None = None
    contexts: int | None = None  # that a test goes through, from the first on; None: all

    def __post_init__(self) -> None:
        if self.contexts is not None:
            check_at_least("Dialogue", 1, contexts=self.contexts)

    @property
    def size(self) -> int:
        """How many pairs there are, N."""
        return len(self.pairs.contexts)

    @property
    def input_size(self) -> ViewSizes:
        """One view: the context."""
        return ViewSizes((self.output_size,), "sequence")

    @property
    def output_size(self) -> int:
        """The words, the end and the unknown."""
        return len(self.wording.table)

    def kept(self) -> dict[str, Any]:
        """What a run keeps, so that one can talk to its model without the data."""
        return self.wording.to_json()

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw pairs, each with the same probability; one may come twice."""
        rows = torch.randint(self.size, (batch_size,), generator=generator, device=generator.device)
        return self.batch_of(rows.cpu())

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every pair that a test goes through."""
        for first in range(0, self.tested, batch_size):
            yield self.batch_of(torch.arange(first, min(first + batch_size, self.tested)))

    def batch_of(self, rows: Int[Tensor, "B"]) -> Batch:
        """The pairs with these numbers. All batches ask for as many steps, so that none tells how long an answer is."""
        lengths = self.pairs.context_lengths[rows]
        context = self.pairs.contexts[rows, : int(lengths.max())].T.to(torch.int64)
        response = self.pairs.responses[rows].T.to(torch.int64)
        steps = torch.arange(len(response)).unsqueeze(1)
        targets = torch.zeros(*response.shape, self.output_size)
        return Batch(
            inputs=torch.zeros(*response.shape, 0),
            targets=targets.scatter_(2, response.unsqueeze(2), 1.0),
            mask=(steps < self.pairs.response_lengths[rows]).to(torch.float32),
            visits=(Visit((context,), (lengths,)),),
        )

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked words, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right words where they stand; :class:`Spoken` has those of whole answers."""
        return class_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """Context, response and, where given, the model's answer."""
        assert batch.visits is not None
        lines = [
            f"context   {self.wording.text(batch.visits[0].views[0][:, row].tolist())}",
            f"response  {self.wording.text(batch.targets[:, row].argmax(-1).tolist())}",
        ]
        if output is not None:
            lines.append(f"answer    {self.wording.text(output[:, row].argmax(-1).tolist())}")
        return "\n".join(lines)

    @property
    def tested(self) -> int:
        """How many pairs a test goes through."""
        return self.size if self.contexts is None else min(self.size, self.contexts)


def encode(pairs: Sequence[Pair], wording: Wording) -> EncodedPairs:
    """Pairs as tokens."""
    contexts = [[*wording.table.encode(pair.context), END] for pair in pairs]
    responses = [[*wording.table.encode(pair.response), END] for pair in pairs]
    return EncodedPairs(*_fill(contexts, wording.lengths.context), *_fill(responses, wording.lengths.response))


def _fill(rows: list[list[int]], longest: int) -> tuple[Int[Tensor, "N L"], Int[Tensor, "N"]]:
    filled = [[*row, *[END] * (1 + longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.int32), torch.tensor([len(row) for row in rows])
