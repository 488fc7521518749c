"""Dynamic n-grams (thesis §7.4.1; Graves et al., 2014): learn a table of probabilities while it is in use.

The thesis prints 127.68 for this task as a bit error. Of the 195 predictions in a sequence of 200 bits, mere
guesses get 97.5 wrong, so the number can only be the cross-entropy of a sequence in bits. That is
``cross_entropy_bits`` here, and ``floor_bits`` is what the best possible predictor pays on the same batch.
Sequences differ widely in how predictable they are (the floor is 128 bits, with a standard deviation of 36), so
models are best compared by ``excess_bits``, the difference on the same batch.

Letters: ``L`` bits of a sequence, ``T`` time (L - 1), ``B`` batch, ``O`` output channels (one).
"""

from dataclasses import dataclass
from math import log, pi

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import render_bits
from mnemon.tasks.sampling import draw_bits, draw_uniform
from mnemon.tasks.scoring import bit_loss, bit_losses, bit_metrics
from mnemon.tasks.settings import check_at_least

CHANNELS = ("bit",)


@dataclass(frozen=True, kw_only=True)
class DynamicNGrams:
    """Show bits one by one and ask for the next, once ``order - 1`` bits are there to predict it from.

    Each sequence has its own table: the probability of a 1 after each context of ``order - 1`` bits, from
    Beta(½, ½). The first context is fair coins. With ``order=3`` and the bits a to f::

        step    0  1  2  3  4
        input   a  b  c  d  e
        target  b  c  d  e  f
        asked      ▲  ▲  ▲  ▲
    """

    order: int = 6
    length: int = 50

    def __post_init__(self) -> None:
        check_at_least("DynamicNGrams", 2, order=self.order)
        check_at_least("DynamicNGrams", self.order, length=self.length)

    @property
    def input_size(self) -> int:
        """The bit seen."""
        return len(CHANNELS)

    @property
    def output_size(self) -> int:
        """The bit to come."""
        return len(CHANNELS)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a table for each row, then its bits."""
        # Beta(½, ½) is the arcsine law: torch.distributions would sample it, but takes no generator.
        table = (draw_uniform(2 ** (self.order - 1), batch_size, generator=generator) * pi / 2).sin().square()
        coins = draw_bits(self.order - 1, batch_size, generator=generator)
        thresholds = draw_uniform(self.length - self.order + 1, batch_size, generator=generator)
        steps, context = [coins], contexts(coins, self.order)
        for threshold in thresholds:
            bit = threshold < table.gather(0, context)
            steps.append(bit.float())
            context = (2 * context + bit) % len(table)
        sequence = torch.cat(steps).unsqueeze(-1)
        mask = sequence.new_ones(self.length - 1, batch_size)
        mask[: self.order - 2] = 0
        return Batch(inputs=sequence[:-1], targets=sequence[1:], mask=mask)

    def loss(self, output: Float[Tensor, "T B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked bits, in nats."""
        return bit_loss(output, batch)

    def metrics(self, output: Float[Tensor, "T B O"], batch: Batch) -> dict[str, float]:
        """The bit metrics, and the cross-entropy of a sequence beside that of the best possible predictor."""
        bits = torch.cat([batch.inputs[:1], batch.targets]).squeeze(-1)
        best = bayes_predictions(bits, self.order).logit().unsqueeze(-1)
        paid, floor = sequence_bits(output, batch), sequence_bits(best, batch)
        return bit_metrics(output, batch) | {
            "cross_entropy_bits": paid,
            "floor_bits": floor,
            "excess_bits": paid - floor,
        }

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "T B O"] | None = None) -> str:
        """One row of the batch as text, errors marked."""
        return render_bits(batch, row, output, input_channels=CHANNELS, output_channels=CHANNELS)


def contexts(bits: Float[Tensor, "L B"], order: int) -> Int[Tensor, "K B"]:
    """Each run of ``order - 1`` successive bits as a number, the oldest bit foremost; K = L - order + 2."""
    places = 2 ** torch.arange(order - 2, -1, -1, device=bits.device)
    return (bits.long().unfold(0, order - 1, 1) * places).sum(-1)


def bayes_predictions(bits: Float[Tensor, "L B"], order: int) -> Float[Tensor, "L-1 B"]:
    """The probability that each bit but the first is 1, given those before it: (N1 + ½) / (N0 + N1 + 1).

    N0 and N1 count what followed the same context so far (Krichevsky and Trofimov's estimate, exact for a
    table from Beta(½, ½)). A bit without a whole context before it is a fair coin.
    """
    seen = contexts(bits[:-1], order)
    following = bits[order - 1 :]
    occurrences = one_hot(seen, 2 ** (order - 1)).to(bits.dtype)
    ones = occurrences * following.unsqueeze(-1)
    earlier, earlier_ones = (((counted.cumsum(0) - counted) * occurrences).sum(-1) for counted in (occurrences, ones))
    coins = bits.new_full((order - 2, bits.shape[1]), 0.5)
    return torch.cat([coins, (earlier_ones + 0.5) / (earlier + 1)])


def sequence_bits(output: Float[Tensor, "T B O"], batch: Batch) -> float:
    """The cross-entropy of a sequence: the sum over its asked bits, in bits, averaged over the batch."""
    return float(bit_losses(output, batch).sum()) / batch.mask.shape[1] / log(2)
