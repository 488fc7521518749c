"""Several right answers (thesis §5.1): each context has M of them, equally likely and different at every step.

Letters: ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.

A context is spelt in letters. With two contexts and three modes, the table of right answers might be::

    x y z x    a c e    b d a    d e b
    z z y x    c b b    e a d    a c e

A row spells a context and asks for one of its answers, drawn by lot. Nothing in the context tells which, so whoever
says the likeliest word at each step gives the same answer again and again: to give all of them a model must vary by
itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.exchanges import exchange, render_exchange, sequence_metrics, until_end
from mnemon.tasks.guided import Wrapping
from mnemon.tasks.scoring import class_loss
from mnemon.tasks.settings import check_at_least
from mnemon.views import ViewSizes

Tokens = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class MultiModal:
    """Contexts with several right answers each, from a table that is drawn once."""

    contexts: int = 4
    spelling: int = 6  # letters that a context is spelt in
    letters: int = 6  # that there are
    modes: int = 4  # M
    length: int = 2  # of an answer
    tokens: int = 12  # that answers are made of
    pool: int | None = None  # answers of which every context has some; None: each context has its own
    table: int = 0  # seed of the table

    def __post_init__(self) -> None:
        check_at_least("MultiModal", 1, contexts=self.contexts, spelling=self.spelling, letters=self.letters)
        check_at_least("MultiModal", 1, modes=self.modes, length=self.length)
        if self.letters**self.spelling < self.contexts:
            raise UserError(
                f"MultiModal(contexts={self.contexts}, spelling={self.spelling}, letters={self.letters}): write more"
                " letters, as no two contexts are spelt alike"
            )
        apart = self.modes if self.pool is None else self.pool
        if apart < self.modes:
            raise UserError(f"MultiModal(modes={self.modes}, pool={apart}): write pool={self.modes} or more")
        if self.tokens < apart:
            raise UserError(
                f"MultiModal(modes={self.modes}, tokens={self.tokens}): write tokens={apart} or more, as the answers"
                " differ at every step"
            )

    @property
    def input_size(self) -> ViewSizes:
        """One view: the letters and the end."""
        return ViewSizes((1 + self.letters,), "sequence")

    @property
    def output_size(self) -> int:
        """The tokens and the end."""
        return 1 + self.tokens

    def answers(self, context: int) -> list[Tokens]:
        """The right answers to a context, by mode."""
        return _table(self).answers[context]

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw contexts and modes."""
        device = generator.device
        contexts = torch.randint(self.contexts, (batch_size,), generator=generator, device=device).tolist()
        modes = torch.randint(self.modes, (batch_size,), generator=generator, device=device).tolist()
        return self.ask(contexts, modes)

    def ask(self, contexts: Sequence[int], modes: Sequence[int]) -> Batch:
        """A row for each context, whose target is its answer of a mode."""
        answers = [self.answers(context)[mode] for context, mode in zip(contexts, modes, strict=True)]
        spelt = [_table(self).contexts[context] for context in contexts]
        return exchange([spelt], answers, self.output_size)

    def loss(self, output: Float[Tensor, "A B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked tokens, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "A B O"], batch: Batch) -> dict[str, float]:
        """``valid``, the share of answers that are right ones of their context, and ``accuracy`` against the target."""
        said = self.said(output, batch)
        valid = sum(answer in self.answers(context) for context, answer in said) / len(said)
        return {"valid": valid, "accuracy": sequence_metrics(output, batch)["accuracy"]}

    def said(self, output: Float[Tensor, "A B O"], batch: Batch) -> list[tuple[int, Tokens]]:
        """The context of each row, and what was answered."""
        assert batch.visits is not None
        spelt = batch.visits[0].views[0][:-1].T.tolist()  # without the end
        contexts = [_table(self).contexts.index(tuple(letters)) for letters in spelt]
        answers = [tuple(until_end(tokens)) for tokens in output.argmax(-1).T.tolist()]
        return list(zip(contexts, answers, strict=True))

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "A B O"] | None = None) -> str:
        """The tokens of one row."""
        return render_exchange(batch, row, output, ["context"])


class _Table(NamedTuple):
    contexts: list[Tokens]  # as they are spelt
    answers: list[list[Tokens]]  # by context and mode


@cache
def _table(task: MultiModal) -> _Table:
    """No two contexts are spelt alike, and no two answers to one have the same token at a step."""
    generator = torch.Generator().manual_seed(task.table)
    contexts: list[Tokens] = []
    while len(contexts) < task.contexts:
        spelt = tuple(torch.randint(1, task.letters + 1, (task.spelling,), generator=generator).tolist())
        if spelt not in contexts:
            contexts.append(spelt)

    def draw(count: int) -> list[Tokens]:
        """Answers without a common token at any step."""
        steps = [torch.randperm(task.tokens, generator=generator)[:count] + 1 for _ in range(task.length)]
        return [tuple(column) for column in torch.stack(steps).T.tolist()]

    if task.pool is None:
        return _Table(contexts, [draw(task.modes) for _ in contexts])
    pool = draw(task.pool)
    chosen = [torch.randperm(task.pool, generator=generator)[: task.modes].tolist() for _ in contexts]
    return _Table(contexts, [[pool[number] for number in numbers] for numbers in chosen])


@dataclass(frozen=True, kw_only=True)
class ModeCoverage(Wrapping):
    """A test that asks for every context many times and counts which of its right answers come.

    A mode is covered where it comes at least half as often as it should, in one of 2M answers; ``modes_covered`` is the
    share of those that are, the mean over contexts. ``valid`` is the share of all answers that are right, ``evenness``
    how evenly the right ones come, as the entropy of their shares over log M.
    """

    task: MultiModal
    samples: int = 64

    def __post_init__(self) -> None:
        check_at_least("ModeCoverage", 1, samples=self.samples)

    def examples(self, batch_size: int) -> Iterator[Batch]:
        """Every context so many times; the targets are its modes by turns."""
        rows = [
            (context, number % self.task.modes)
            for context in range(self.task.contexts)
            for number in range(self.samples)
        ]
        for start in range(0, len(rows), batch_size):
            contexts, modes = zip(*rows[start : start + batch_size], strict=True)
            yield self.task.ask(contexts, modes)

    def pool(self, output: Float[Tensor, "A B O"], batch: Batch) -> list[tuple[int, Tokens]]:
        """Contexts and answers."""
        return self.task.said(output, batch)

    def measure(self, pooled: Sequence[Any]) -> dict[str, float]:
        """What came."""
        said = [each for part in pooled for each in part]
        counts = torch.zeros(self.task.contexts, self.task.modes)
        for context, answer in said:
            right = self.task.answers(context)
            if answer in right:
                counts[context, right.index(answer)] += 1
        shares = counts / counts.sum(1, keepdim=True).clamp_min(1)
        entropy = torch.special.entr(shares).sum(1).mean()
        most = torch.tensor(float(self.task.modes)).log()
        return {
            "modes_covered": float((counts >= self.samples / (2 * self.task.modes)).float().mean()),
            "valid": float(counts.sum()) / len(said),
            "evenness": float(entropy / most) if self.task.modes > 1 else 1.0,
        }
