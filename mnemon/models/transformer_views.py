"""The Transformer over views of tokens (thesis §3.2.3; Vaswani et al., 2017): an encoder, and a decoder that reads it.

Letters: ``B`` batch, ``S`` steps of all views, ``A`` steps of the answer, ``D`` numbers of a step, ``O`` tokens of the
answer.

The decoder sees the tokens that it gave before. They are found first, step by step and without gradients, each from all
before it anew; the whole answer is then run with them at once, as :class:`mnemon.models.decoder.SequenceDecoder` does.

Deviations: as :mod:`mnemon.models.transformer`. A set is answered in one step, from its start alone.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.config import ModelConfig, ModelEntry
from mnemon.models.transformer import CausalTransformer, Layers, begin_with, future, placed, reset, seen_steps
from mnemon.state import detach
from mnemon.views import ViewSizes

LAYERS = 2  # where no number is asked for


class Encoding(NamedTuple):
    """What the encoder leaves of the steps of all views, and which of them a row has."""

    values: Float[Tensor, "B S D"]
    valid: Bool[Tensor, "B S"]


class TransformerEncoderDecoder(nn.Module):
    """Reads views of tokens, then answers with a sequence or a set, as other models of views do.

    ``output, memories = model(views, memories, lengths=lengths, steps=steps)``. All views are one sequence of steps,
    each view with positions and embeddings of its own. What earlier calls encoded can be attended to by handing it in.

    Args:
        sizes: of the views, and how the answer is given.
        output_size: O.
        layers: how large encoder and decoder are.
    """

    def __init__(self, sizes: ViewSizes, output_size: int, layers: Layers) -> None:
        super().__init__()
        check_sizes(output_size=output_size, **layers._asdict())
        self.answer = sizes.answer
        self.embeddings = nn.ModuleList(nn.Embedding(tokens, layers.size) for tokens in sizes.views)
        self.answers = nn.Embedding(output_size, layers.size) if sizes.answer == "sequence" else None
        self.begin = nn.Parameter(torch.empty(layers.size))
        self.start = nn.Parameter(torch.empty(layers.size))  # of the answer
        self.encoder = layers.encoder()
        self.decoder = layers.decoder()
        self.readout = nn.Linear(layers.size, output_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier for matrices, N(0, 1/D) for embeddings."""
        reset(self)

    def forward(
        self,
        views: Sequence[Int[Tensor, "_ B"]],
        memories: Sequence[Encoding] | None = None,
        *,
        lengths: Sequence[Int[Tensor, "B"] | None] | None = None,
        steps: int = 1,
        targets: Int[Tensor, "A B"] | None = None,
        teacher: float = 0.0,
        asked: Tensor | None = None,  # noqa: ARG002 (for losses of a model's own)
    ) -> tuple[Float[Tensor, "A B O"], tuple[Encoding]]:
        """The logits of the answer, and what was encoded.

        Args:
            views: the tokens of each.
            memories: as an earlier call returned them; no gradient goes back into that call.
            lengths: how many tokens each row of each view has.
            steps: how long the answer is, A.
            targets: its right tokens, where some are to be fed to the decoder.
            teacher: how often, from 0, never, to 1, always.
        """
        if self.answers is None and steps != 1:
            raise UserError(f"a set is answered in one step: write steps=1, not {steps}")
        encoded = self.encode(views, lengths)
        if memories:
            joined = zip(detach(memories[0]), encoded, strict=True)
            encoded = Encoding(*(torch.cat(parts, dim=1) for parts in joined))
        if targets is None or teacher < 1:
            targets = self._follow(encoded, steps, targets, teacher)
        return self._decode(encoded, targets[: steps - 1]), (encoded,)

    def encode(
        self, views: Sequence[Int[Tensor, "_ B"]], lengths: Sequence[Int[Tensor, "B"] | None] | None = None
    ) -> Encoding:
        """Read the views."""
        lengths = [None] * len(views) if lengths is None else lengths
        if not len(views) == len(lengths) == len(self.embeddings):
            wanted = len(self.embeddings)
            raise UserError(f"this model reads {wanted} views: got {len(views)}, and lengths of {len(lengths)}")
        valid = torch.cat([seen_steps(view, own) for view, own in zip(views, lengths, strict=True)], dim=1)
        embedded = [embedding(view.T) for embedding, view in zip(self.embeddings, views, strict=True)]
        begun, valid = begin_with(self.begin, torch.cat([placed(steps, first=1) for steps in embedded], dim=1), valid)
        return Encoding(self.encoder(begun, src_key_padding_mask=~valid), valid)

    @torch.no_grad()
    def greedy(self, encoded: Encoding, steps: int) -> Int[Tensor, "A B"]:
        """The likeliest token at each of so many steps."""
        return self._follow(encoded, steps, None, 0.0, last=True)

    def _decode(self, encoded: Encoding, fed: Int[Tensor, "_ B"]) -> Float[Tensor, "A B O"]:
        """The logits of one step more than are fed."""
        batch, size = len(encoded.values), self.start.shape[0]
        steps = self.start.expand(batch, 1, size)
        if self.answers is not None:
            steps = torch.cat([steps, self.answers(fed.T)], dim=1)
        count = steps.shape[1]
        hidden = self.decoder(
            placed(steps), encoded.values, tgt_mask=future(count, steps.device), memory_key_padding_mask=~encoded.valid
        )
        return cast(Tensor, self.readout(hidden)).transpose(0, 1)

    @torch.no_grad()
    def _follow(
        self, encoded: Encoding, steps: int, targets: Int[Tensor, "A B"] | None, teacher: float, *, last: bool = False
    ) -> Int[Tensor, "_ B"]:
        """The tokens that are fed, each the likeliest after those before it, or the right one as often as asked."""
        batch = len(encoded.values)
        tokens = torch.zeros(0, batch, dtype=torch.int64, device=encoded.values.device)
        for step in range(steps if last else steps - 1):
            token = self._decode(encoded, tokens)[-1].argmax(-1)
            if targets is not None and teacher > 0:
                token = torch.where(torch.rand(batch, device=token.device) < teacher, targets[step], token)
            tokens = torch.cat([tokens, token.unsqueeze(0)])
        return tokens


def _layers(config: ModelConfig) -> Layers:
    """As many heads as asked for, each of a word's numbers; the feed-forward network is as wide as what is hidden."""
    return Layers(config.heads, config.word, config.hidden, config.layers or LAYERS)


def _causal(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return CausalTransformer(input_size, output_size, _layers(config))


def _of_views(config: ModelConfig, sizes: ViewSizes, output_size: int) -> nn.Module:
    return TransformerEncoderDecoder(sizes, output_size, _layers(config))


TRANSFORMERS: dict[str, ModelEntry] = {
    "transformer": ModelEntry(
        "Transformer that sees no later step", "§3.2.3", "mnemon/models/transformer.py", _causal, has_memory=False
    ),
    "transformer-encoder-decoder": ModelEntry(
        "Transformer from views to an answer",
        "§3.2.3",
        "mnemon/models/transformer_views.py",
        _of_views,
        has_memory=False,
        reads_views=True,
        has_embedding=False,
    ),
}
