"""Encoder-decoders over one view or several (thesis §3.3.5, §4.3, §4.4): DC-MANN, DMNC, and their baselines.

Letters: ``T`` steps of a view, ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer.

One view and one memory make DC-MANN, or DCw-MANN where the decoder does not write; two views and two memories make
DMNC. Any number of views may be read and any number of answers given, each as a sequence or as a set.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.models.decoder import SequenceDecoder, SetDecoder
from mnemon.models.encoder import EarlyFusion, Encoded, LateFusion, Lengths, Views
from mnemon.models.generation import Generated, word_choice
from mnemon.models.variational_decoder import LatentDecoder
from mnemon.rnn import MANN, Engine, EngineUsed
from mnemon.state import detach

Decoder = SequenceDecoder | SetDecoder | LatentDecoder


class EncoderDecoder(nn.Module):
    """Reads views, then answers.

    ``output, memories = model([tokens], steps=20)``. Memories that are handed back in persist, as over the admissions
    of a patient; without them each call begins with empty ones.

    Args:
        encoder: of all views.
        decoders: one for each answer.
        truncated: let no gradient go back through memories that are handed in.
    """

    def __init__(
        self, encoder: LateFusion | EarlyFusion, decoders: Sequence[Decoder], *, truncated: bool = True
    ) -> None:
        super().__init__()
        if not decoders:
            raise UserError("EncoderDecoder needs at least one decoder")
        self.encoder = encoder
        self.truncated = truncated
        self.decoders = nn.ModuleList(decoders)

    def forward(
        self,
        views: Views,
        memories: Sequence[Any] | None = None,
        *,
        lengths: Lengths | None = None,
        steps: int | Sequence[int] = 1,
        targets: Int[Tensor, "A B"] | Sequence[Int[Tensor, "A B"] | None] | None = None,
        teacher: float = 0.0,
        asked: Bool[Tensor, "A B"] | None = None,
        losses: bool = False,
    ) -> tuple[Any, tuple[Any, ...]] | tuple[Any, tuple[Any, ...], dict[str, Tensor]]:
        """The logits (A, B, O) of the answer, or of each where there are several, and the memories.

        Args:
            views: the tokens of each.
            memories: as an earlier call returned them.
            lengths: how many tokens each row of each view has.
            steps: how long the answer is, or each.
            targets: its right tokens, where some are to be fed to the decoder.
            teacher: how often, from 0, never, to 1, always.
            asked: which steps of the answer count, the first of each row; None: all.
            losses: also give the model's own losses, ``output, memories, losses = model(…, losses=True)``.
        """
        encoded = self.encode(views, lengths, memories)
        opened = self.open(encoded)
        count = len(self.decoders)
        all_steps = [steps] * count if isinstance(steps, int) else list(steps)
        all_targets = [targets] * count if targets is None or isinstance(targets, Tensor) else list(targets)
        outputs: list[Any] = []
        own_losses: dict[str, Tensor] = {}
        for number, (decoder, own, right) in enumerate(zip(self._each, all_steps, all_targets, strict=True)):
            if isinstance(decoder, LatentDecoder):
                output, found = decoder.answer(opened, own, targets=right, teacher=teacher, asked=asked, losses=losses)
                own_losses |= {name if count == 1 else f"{number}.{name}": loss for name, loss in found.items()}
            else:
                counts = asked if count == 1 else None  # answers differ in length
                output = decoder(opened, own, targets=right, teacher=teacher, asked=counts)
            outputs.append(output)
        given = (outputs[0] if count == 1 else tuple(outputs)), encoded.memories
        return (*given, own_losses) if losses else given

    @torch.no_grad()
    def generate(
        self,
        views: Views,
        lengths: Lengths | None = None,
        steps: int = 20,
        *,
        temperature: float = 0.0,
        top_p: float = 1.0,
        mode: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Generated:
        """Answer in words of its own; the same generator state gives the same words.

        Args:
            views: the tokens of each.
            lengths: how many tokens each row of each view has.
            steps: how long the answer is at most.
            temperature: of the choice of words; 0: the likeliest, so that a latent variable alone makes answers differ.
            top_p: choose among the fewest words that are this likely together.
            mode: take the latent variables from this mode alone; None: from all of them.
            generator: what is drawn with; None: torch's global one.
        """
        decoder = self._each[0]
        if isinstance(decoder, SetDecoder):
            raise UserError("this model answers with a set, not in words: call it in place of generate")
        choose = word_choice(temperature=temperature, top_p=top_p, generator=generator)
        opened = self.open(self.encode(views, lengths))
        return decoder.generate(opened, steps, choose, mode=mode, generator=generator)

    def encode(self, views: Views, lengths: Lengths | None = None, memories: Sequence[Any] | None = None) -> Encoded:
        """Read the views."""
        wanted = len(self.encoder.views)
        lengths = [None] * len(views) if lengths is None else lengths
        if len(views) != wanted or len(lengths) != wanted:
            raise UserError(f"this model reads {wanted} views: got {len(views)}, and lengths of {len(lengths)}")
        if memories is not None and self.truncated:
            memories = [detach(memory) for memory in memories]
        return cast(Encoded, self.encoder(views, lengths, memories))

    def open(self, encoded: Encoded) -> Encoded:
        """What the decoders read of it."""
        return self.encoder.own_parts(encoded) if isinstance(self.encoder, EarlyFusion) else encoded

    @property
    def engine(self) -> Engine:
        """The engine of all parts: "auto", "native" or "reference"."""
        return self._networks[0].engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        for network in self._networks:
            network.engine = engine
        if isinstance(self.encoder, EarlyFusion):
            self.encoder.engine = engine

    @property
    def engine_used(self) -> dict[str, EngineUsed | None]:
        """Which engine ran each part last, and why."""
        return {name: part.engine_used for name, part in self.named_modules() if isinstance(part, MANN | EarlyFusion)}

    @property
    def _networks(self) -> list[MANN]:
        return [part for part in self.modules() if isinstance(part, MANN)]

    @property
    def _each(self) -> list[Decoder]:
        return cast(list[Decoder], list(self.decoders))


class Concatenated(nn.Module):
    """Several views as one, one after the other: how a model of one view is given several.

    Args:
        model: of one view, whose tokens are those of all views, and 0.
        sizes: how many tokens each view has; those of a view follow those of the views before it.
    """

    def __init__(self, model: EncoderDecoder, sizes: Sequence[int]) -> None:
        super().__init__()
        self.model = model
        self.sizes = tuple(sizes)

    def forward(self, views: Views, memories: Any = None, *, lengths: Lengths | None = None, **options: Any) -> Any:
        """As :class:`EncoderDecoder`."""
        joined, total = concatenate(views, lengths, self.sizes)
        return self.model([joined], memories, lengths=[total], **options)

    def generate(self, views: Views, lengths: Lengths | None = None, steps: int = 20, **options: Any) -> Generated:
        """As :meth:`EncoderDecoder.generate`."""
        joined, total = concatenate(views, lengths, self.sizes)
        return self.model.generate([joined], [total], steps, **options)

    @property
    def engine(self) -> Engine:
        """Of the model."""
        return self.model.engine

    @engine.setter
    def engine(self, engine: Engine) -> None:
        self.model.engine = engine


def concatenate(
    views: Views, lengths: Lengths | None, sizes: Sequence[int]
) -> tuple[Int[Tensor, "T B"], Int[Tensor, "B"]]:
    """One sequence from several, with no gap between them, and its lengths."""
    batch = views[0].shape[1]
    counts = [
        torch.full((batch,), len(view), dtype=torch.int64, device=view.device) if own is None else own
        for view, own in zip(views, lengths or [None] * len(views), strict=True)
    ]
    total = torch.stack(counts).sum(0)
    joined = views[0].new_zeros(int(total.max()), batch)
    start, offset = torch.zeros_like(total), 0
    for view, count, size in zip(views, counts, sizes, strict=True):
        for step, tokens in enumerate(view):
            rows = (step < count).nonzero().squeeze(1)
            joined[start[rows] + step, rows] = tokens[rows] + offset
        start, offset = start + count, offset + size
    return joined, total
