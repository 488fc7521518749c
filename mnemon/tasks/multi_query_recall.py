"""Multi-query associative recall (beyond the thesis; Arora et al., 2023): many pairs, then every key is asked for.

Deviations: the published task scatters queries over a longer sequence, with gaps that follow a power law; here they
come one after the other, in random order, as soon as the pairs are shown. Keys and values are one-hot, not embedded,
as in the other tasks over tokens.

Letters: ``T`` steps, ``B`` batch, ``O`` tokens, ``I`` input channels.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot, pad

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import render_tokens
from mnemon.tasks.sampling import draw_between
from mnemon.tasks.scoring import class_loss, class_metrics
from mnemon.tasks.settings import check_at_least, check_range


@dataclass(frozen=True, kw_only=True)
class MultiQueryRecall:
    """Show pairs of a key and a value, then each key once more, in any order, and ask for its value at once.

    The first ``keys`` tokens are keys, the others values. No key comes twice among the pairs; values may. One number
    of pairs, from ``min_pairs`` to ``max_pairs``, serves a whole batch. A step shows the last ``context`` tokens side
    by side, the newest first: with two of them a value comes beside its key, as the short convolutions of today's
    models have it. With the pairs (a, x), (b, y), (c, x) and a context of two::

        step    0  1  2  3  4  5  6  7  8
        input   a  x  b  y  c  x  b  c  a
                   a  x  b  y  c  x  b  c
        target                    y  x  x
    """

    keys: int = 32
    values: int = 16
    min_pairs: int = 1
    max_pairs: int = 8
    context: int = 2

    def __post_init__(self) -> None:
        check_at_least("MultiQueryRecall", 1, keys=self.keys, values=self.values, context=self.context)
        check_range("MultiQueryRecall", 1, min_pairs=self.min_pairs, max_pairs=self.max_pairs)
        if self.max_pairs > self.keys:
            raise UserError(
                f"MultiQueryRecall(max_pairs={self.max_pairs}): write {self.keys} or less, no key comes twice"
            )

    @property
    def input_size(self) -> int:
        """The keys and the values, for each token that a step shows."""
        return self.context * (self.keys + self.values)

    @property
    def output_size(self) -> int:
        """The keys and the values."""
        return self.keys + self.values

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a number of pairs, the pairs, and the order of the queries of each row."""
        pairs = draw_between(self.min_pairs, self.max_pairs, generator)
        keys = self._shuffled(batch_size, self.keys, generator)[:pairs]
        shape = (pairs, batch_size)
        values = self.keys + torch.randint(self.values, shape, generator=generator, device=generator.device)
        order = self._shuffled(batch_size, pairs, generator)
        shown = torch.stack([keys, values], dim=1).flatten(0, 1)  # k₁ v₁ k₂ v₂ …
        asked = values.gather(0, order)
        return Batch(
            inputs=self._with_context(self._one_hot(torch.cat([shown, keys.gather(0, order)]))),
            targets=torch.cat([self._one_hot(shown).zero_(), self._one_hot(asked)]),
            mask=torch.cat([torch.zeros_like(shown), torch.ones_like(asked)]).float(),
        )

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked values, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right values."""
        return class_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text, the newest token of each step, errors marked."""
        newest = batch.inputs[..., : self.output_size]
        return render_tokens(batch._replace(inputs=newest), row, output)

    def _shuffled(self, batch_size: int, count: int, generator: torch.Generator) -> Int[Tensor, "count B"]:
        """0 to ``count`` − 1 in an order of its own for each row."""
        return torch.rand(count, batch_size, generator=generator, device=generator.device).argsort(0)

    def _one_hot(self, tokens: Int[Tensor, "steps B"]) -> Float[Tensor, "steps B O"]:
        return one_hot(tokens, self.output_size).float()

    def _with_context(self, tokens: Float[Tensor, "T B O"]) -> Float[Tensor, "T B I"]:
        """Each step beside those before it; nothing stands before the first."""
        steps = len(tokens)
        earlier = [pad(tokens, (0, 0, 0, 0, back, 0))[:steps] for back in range(self.context)]
        return torch.cat(earlier, dim=2)
