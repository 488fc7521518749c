"""Double, copy, reverse, add and max over tokens (thesis §6.5.1 to §6.5.3; appendix, "Synthetic Discrete Task Format").

The prompt is T tokens and an end-of-sequence step, the input while answering is zero, and all tokens are one-hot.

Deviations from the thesis:
    tokens: 1 to 9 with 0 for the end of the sequence, so that there are the "10 possible outputs" of §6.5.1, which
        also says that integers come from [1, 10]; 1 to 50 for max.
    end of sequence: the answer ends with one too, and the accuracy counts it, as in the authors' program; the
        appendix's table leaves it out. A model that knows nothing of 50 tokens but where they end scores
        (50/9 + 1) / 51 = 12.9%.
    add: x_t is paired with x_{T+1-t}; the printed x_{T-t} would pair the last with x_0. The mean is rounded down,
        since the answer is a token.
    max: x_{2t-1} with x_{2t}, as in the appendix; §6.5.3 prints x_{2t} with x_{2t+1}, which leaves x_1 out.

Letters: ``T`` length of the sequence, ``A`` length of the answer, ``B`` batch, ``S`` steps, ``O`` output channels.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import render_tokens
from mnemon.tasks.sampling import draw_between, marker, prompt_then_answer
from mnemon.tasks.scoring import class_loss, class_metrics
from mnemon.tasks.settings import check_at_least, check_range

END = 0  # the token that ends the prompt and the answer


@dataclass(frozen=True, kw_only=True)
class TokenTask(ABC):
    """Show ``length`` tokens from 1 to ``largest`` and an end; ask for what :meth:`answer` makes of them, and an end.

    With ``min_length`` each batch has a length of its own, from that to ``length``.

    To copy the tokens a, b, c::

        step    0  1  2  3    4  5  6  7
        input   a  b  c  end  0  0  0  0
        target                a  b  c  end
    """

    shortest: ClassVar[int] = 1

    length: int = 50
    largest: int = 9
    min_length: int | None = None  # None: always ``length``

    def __post_init__(self) -> None:
        check_at_least(type(self).__name__, self.shortest, length=self.length)
        check_at_least(type(self).__name__, 1, largest=self.largest)
        if self.min_length is not None:
            check_range(type(self).__name__, self.shortest, min_length=self.min_length, length=self.length)

    @abstractmethod
    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """What is asked for before the end."""

    @property
    def input_size(self) -> int:
        """The tokens and the end."""
        return self.largest + 1

    @property
    def output_size(self) -> int:
        """The tokens and the end."""
        return self.largest + 1

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a length where there is a choice, then the tokens."""
        length = self.length if self.min_length is None else draw_between(self.min_length, self.length, generator)
        shape = (length, batch_size)
        tokens = torch.randint(1, self.largest + 1, shape, generator=generator, device=generator.device)
        return prompt_then_answer(self._ended(tokens), self._ended(self.answer(tokens)))

    def loss(self, output: Float[Tensor, "S B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean cross-entropy of the asked tokens, in nats."""
        return class_loss(output, batch)

    def metrics(self, output: Float[Tensor, "S B O"], batch: Batch) -> dict[str, float]:
        """``accuracy``, the share of right tokens."""
        return class_metrics(output, batch)

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "S B O"] | None = None) -> str:
        """One row of the batch as text, errors marked."""
        return render_tokens(batch, row, output)

    def _ended(self, tokens: Int[Tensor, "T B"]) -> Float[Tensor, "T+1 B O"]:
        hot = one_hot(tokens, self.largest + 1).to(torch.float32)
        return torch.cat([hot, marker(hot, END)])


@dataclass(frozen=True, kw_only=True)
class TokenCopy(TokenTask):
    """The tokens as they were."""

    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """x_1 … x_T."""
        return tokens


@dataclass(frozen=True, kw_only=True)
class Double(TokenTask):
    """The tokens twice over."""

    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """x_1 … x_T x_1 … x_T."""
        return torch.cat([tokens, tokens])


@dataclass(frozen=True, kw_only=True)
class Reverse(TokenTask):
    """The tokens from the last to the first."""

    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """x_T … x_1."""
        return tokens.flip(0)


@dataclass(frozen=True, kw_only=True)
class Add(TokenTask):
    """Means of the first and the last token, the second and the last but one, and so on to the middle."""

    shortest = 2

    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """⌊(x_t + x_{T+1-t}) / 2⌋ for t = 1 … ⌊T/2⌋."""
        return (tokens + tokens.flip(0))[: len(tokens) // 2] // 2


@dataclass(frozen=True, kw_only=True)
class Max(TokenTask):
    """The larger of each two neighbours; a last one without a neighbour is left out."""

    shortest = 2

    largest: int = 50

    def answer(self, tokens: Int[Tensor, "T B"]) -> Int[Tensor, "A B"]:
        """The maximum of x_{2t-1} and x_{2t} for t = 1 … ⌊T/2⌋."""
        return torch.maximum(tokens[:-1:2], tokens[1::2])
