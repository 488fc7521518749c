"""Transformers (thesis §3.2.3; Vaswani et al., 2017): attention of every step to every other, in place of recurrence.

Letters: ``T`` steps, ``B`` batch, ``I`` input, ``O`` output, ``D`` numbers of a step.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

in several heads at once, then a feed-forward network for each step, and to both what went in is added; so many layers
of it. All of this is torch.nn's. Here is what it leaves open: what a step is embedded as, where it stands, and what it
may see; how an answer is made is in :mod:`mnemon.models.transformer_views`.

Each sequence has a first step of its own, learnt, which all may see: so that none has nothing to attend to.

Deviations: values are normalised before a sublayer rather than after it, which learns without a warm-up of the rate;
no dropout, as tasks here draw fresh sequences.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon.memory.base import check_sizes

LONGEST_WAVE = 10_000.0


class Layers(NamedTuple):
    """How large a stack of layers is: D is ``heads`` times ``head_size``."""

    heads: int
    head_size: int
    feed_forward: int
    layers: int

    @property
    def size(self) -> int:
        """D."""
        return self.heads * self.head_size

    def encoder(self) -> nn.TransformerEncoder:
        """Self-attention."""
        layer = nn.TransformerEncoderLayer(
            self.size, self.heads, self.feed_forward, dropout=0.0, batch_first=True, norm_first=True
        )
        return nn.TransformerEncoder(layer, self.layers, nn.LayerNorm(self.size), enable_nested_tensor=False)

    def decoder(self) -> nn.TransformerDecoder:
        """Self-attention, and attention to what an encoder left."""
        layer = nn.TransformerDecoderLayer(
            self.size, self.heads, self.feed_forward, dropout=0.0, batch_first=True, norm_first=True
        )
        return nn.TransformerDecoder(layer, self.layers, nn.LayerNorm(self.size))


def waves(places: Int[Tensor, "*shape"], size: int, dtype: torch.dtype) -> Float[Tensor, "*shape D"]:
    """Where a step stands, as sines and cosines of wave-lengths from 2π to 10,000 · 2π."""
    pairs = torch.arange((size + 1) // 2, device=places.device, dtype=dtype)
    angles = places.unsqueeze(-1).to(dtype) / LONGEST_WAVE ** (2 * pairs / size)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :size]


def future(steps: int, device: torch.device) -> Bool[Tensor, "T T"]:
    """True where a step, by row, must not see another, which comes later."""
    return torch.ones(steps, steps, dtype=torch.bool, device=device).triu(1)


def seen_steps(tokens: Float[Tensor, "T B *rest"] | Int[Tensor, "T B"], lengths: Tensor | None) -> Bool[Tensor, "B T"]:
    """The steps that each row has."""
    steps, batch = tokens.shape[:2]
    if lengths is None:
        return torch.ones(batch, steps, dtype=torch.bool, device=tokens.device)
    return torch.arange(steps, device=tokens.device) < lengths.to(tokens.device).unsqueeze(1)


class Past(NamedTuple):
    """What a causal Transformer has been shown: it keeps all of it."""

    inputs: Float[Tensor, "B T I"]
    valid: Bool[Tensor, "B T"]


class CausalTransformer(nn.Module):
    """Reads a sequence of numbers and answers at each step, seeing none that come later.

    ``output, state = model(inputs, state, lengths=lengths)``, as nn.LSTM; a sequence that goes on is computed again
    from its beginning.

    Args:
        input_size: I.
        output_size: O.
        layers: how large it is.
    """

    def __init__(self, input_size: int, output_size: int, layers: Layers) -> None:
        super().__init__()
        check_sizes(input_size=input_size, output_size=output_size, **layers._asdict())
        self.enter = nn.Linear(input_size, layers.size)
        self.begin = nn.Parameter(torch.empty(layers.size))
        self.encoder = layers.encoder()
        self.readout = nn.Linear(layers.size, output_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Xavier for matrices, as published; torch gives all layers the same numbers otherwise."""
        reset(self)

    def forward(
        self,
        inputs: Float[Tensor, "T B I"],
        state: Past | None = None,
        *,
        lengths: Int[Tensor, "B"] | None = None,
    ) -> tuple[Float[Tensor, "T B O"], Past]:
        """Run over a sequence; rows past their length output zero."""
        past = Past(inputs.transpose(0, 1), seen_steps(inputs, lengths))
        if state is not None:
            past = Past(*(torch.cat(parts, dim=1) for parts in zip(state, past, strict=True)))
        steps, new = past.inputs.shape[1], inputs.shape[0]
        entered = self.enter(past.inputs) + waves(past.valid.cumsum(1), self.begin.shape[0], inputs.dtype)
        begun, valid = begin_with(self.begin, entered, past.valid)
        hidden = self.encoder(begun, mask=future(steps + 1, inputs.device), src_key_padding_mask=~valid)
        output = self.readout(hidden[:, steps + 1 - new :]) * past.valid[:, steps - new :].unsqueeze(2)
        return output.transpose(0, 1), past


def placed(steps: Float[Tensor, "B T D"], first: int = 0) -> Float[Tensor, "B T D"]:
    """Steps that follow one another, each with its place added."""
    places = torch.arange(first, first + steps.shape[1], device=steps.device)
    return steps + waves(places, steps.shape[2], steps.dtype)


def begin_with(
    begin: Float[Tensor, "D"], steps: Float[Tensor, "B T D"], valid: Bool[Tensor, "B T"]
) -> tuple[Float[Tensor, "B T+1 D"], Bool[Tensor, "B T+1"]]:
    """Put the first step, which every row has, before the others."""
    batch = len(steps)
    return torch.cat([begin.expand(batch, 1, -1), steps], dim=1), torch.cat([valid.new_ones(batch, 1), valid], dim=1)


def reset(model: nn.Module) -> None:
    """Xavier for matrices, N(0, 1/D) for embeddings and single vectors, 0 for biases, 1 for what scales."""
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if isinstance(module, nn.LayerNorm):
                nn.init.constant_(parameter, float(name == "weight"))
            elif isinstance(module, nn.Embedding) or name in ("begin", "start"):
                nn.init.normal_(parameter, std=parameter.shape[-1] ** -0.5)
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
