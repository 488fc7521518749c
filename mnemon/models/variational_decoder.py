"""A decoder with a latent variable (thesis §5.3): VMED's, with one at every step, and those of its baselines.

Letters: ``A`` steps of the answer, ``B`` batch, ``O`` tokens of the answer, ``E`` embedding, ``Z`` latent,
``U`` utterance encoder.

A step of speaking (Algorithm 5.1): draw z_t from the prior, let the controller see [y_{t−1}, z_t], say a word by its
output, write and read the memory. While it is taught it is fed the right words, and z_t comes from the posterior, which
also sees the words up to y_t; how far that is from the prior is the divergence of the step.

What is read reaches the controller and the words through z_t alone, as Algorithm 5.1 and the author's program have it.

Deviations: the author's program projects z_t before the controller sees it and the reads before they become a prior,
and weighs modes by a softmax over max w; here all of it is as printed. y_0 is a vector of zeros. The divergence of a
step that is not asked for counts as zero.
"""

from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mnemon import trace
from mnemon.cell import CellState, MemoryCell
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.decoder import begin
from mnemon.models.encoder import Encoded
from mnemon.models.generation import Choice, Generated, likeliest
from mnemon.models.latent import Posterior, Prior
from mnemon.native import engine as native
from mnemon.rnn import MANN
from mnemon.state import map_state
from mnemon.theory.mixtures import Drawn, Gaussian, Mixture, divergence, sample_gaussian, sample_mixture, sample_mode


class Latent(NamedTuple):
    """The latent variable of one step, or stacked of all."""

    prior: Mixture
    posterior: Gaussian
    value: Float[Tensor, "*A B Z"]


class Guided(NamedTuple):
    """An answer that was fed the right words."""

    logits: Float[Tensor, "A B O"]
    divergence: Float[Tensor, "A B"]  # D_var of each step, in nats
    latents: Latent


class Spoken(NamedTuple):
    """An answer of its own words."""

    logits: Float[Tensor, "A B O"]
    tokens: Int[Tensor, "A B"]
    modes: Int[Tensor, "A B"]


class LatentDecoder(nn.Module):
    """Answers with a sequence of tokens that varies with a latent variable.

    Args:
        cell: its input is an embedded token and a latent variable, its output one logit for each token.
        prior: of the latent variable, from the cell's state.
        utterance: the cell that reads the right answer for the posterior; its input is an embedded token.
        once: one latent variable serves the whole answer, and the posterior sees all of it (CVAE).
        free_bits: nats of divergence, of each latent variable, that cost nothing while training; below them nothing is
            gained by ignoring it.
        alone: the decoder is told nothing but its latent variables: it is not fed its words, and its controller does
            not begin where the encoder's ended. What an answer says, and what keeps it together, is then theirs.
    """

    def __init__(
        self,
        cell: MemoryCell,
        prior: Prior,
        utterance: MemoryCell,
        *,
        once: bool = False,
        free_bits: float = 0.0,
        alone: bool = False,
    ) -> None:
        super().__init__()
        if cell.input_size != (wanted := utterance.input_size + prior.latent_size):
            raise UserError(
                f"the cell sees a token and a latent variable: write {wanted} inputs, not {cell.input_size}"
            )
        if not 0 <= free_bits < float("inf"):
            raise UserError(f"free_bits must be 0 or a number of nats above, got {free_bits}")
        self.embedding = nn.Embedding(cell.output_size, utterance.input_size)
        self.rnn = MANN(cell)
        self.prior = prior
        self.posterior = Posterior(prior.summary_size, utterance.controller.hidden_size, prior.latent_size)
        self.utterance = MANN(utterance)
        self.once, self.free_bits, self.alone = once, free_bits, alone

    def forward(
        self,
        encoded: Encoded,
        steps: int,
        *,
        targets: Int[Tensor, "A B"] | None = None,
        teacher: float = 0.0,
    ) -> Float[Tensor, "A B O"]:
        """The logits of so many steps, of its own words or, with ``teacher=1``, of the right ones."""
        return self.answer(encoded, steps, targets=targets, teacher=teacher)[0]

    def answer(
        self,
        encoded: Encoded,
        steps: int,
        *,
        targets: Int[Tensor, "A B"] | None = None,
        teacher: float = 0.0,
        asked: Bool[Tensor, "A B"] | None = None,
        losses: bool = False,
    ) -> tuple[Float[Tensor, "A B O"], dict[str, Float[Tensor, ""]]]:
        """The logits and, where right words are fed, ``kl``: the mean divergence of an asked step.

        Args:
            encoded: what the encoders left.
            steps: A.
            targets: the right words.
            teacher: 1 to feed them, 0 not to.
            asked: which of them count, the first of each row; None: all.
            losses: refuse to answer where there is no ``kl``.
        """
        if teacher not in (0.0, 1.0):
            raise UserError(
                f"a variational decoder is fed the right tokens always or never: teacher=1 or 0, not {teacher}"
            )
        if targets is None or not teacher:
            if losses:
                raise UserError("a variational model learns from the right tokens: write teacher=1, and give targets")
            return self.speak(encoded, steps).logits, {}
        guided = self.guided(encoded, targets, asked)
        count = guided.divergence.numel() if asked is None else asked.sum()
        counted = guided.divergence
        if self.training and self.free_bits:
            counted = torch.where(counted > 0, counted.clamp_min(self.free_bits), counted)
        return guided.logits, {"kl": counted.sum() / count}

    def guided(self, encoded: Encoded, targets: Int[Tensor, "A B"], asked: Bool[Tensor, "A B"] | None = None) -> Guided:
        """Feed the right words, with latent variables from the posterior.

        Args:
            encoded: what the encoders left.
            targets: the right words.
            asked: which of them count, the first of each row; None: all.
        """
        embedded = self.embedding(targets)
        heard = self._hear(embedded, asked)
        words = torch.zeros_like(embedded)
        if not self.alone:
            words = torch.cat([words[:1], embedded[:-1]])
        state, features, divergences, latents = self.begin(encoded), [], [], []
        for step, word in enumerate(words):
            if step == 0 or not self.once:
                latents.append(self._infer(state, heard[step]))
                divergences.append(divergence(latents[-1].posterior, latents[-1].prior))
            else:
                divergences.append(torch.zeros_like(divergences[0]))
            feature, state = self._step(word, latents[-1].value, latents[-1].prior, self._told(state, step))
            features.append(feature)
        apart = torch.stack(divergences)
        if asked is not None:
            apart = torch.where(asked, apart, 0.0)
        logits = self.rnn.cell.readout(torch.stack(features))
        return Guided(logits, apart, map_state(lambda *parts: torch.stack(parts), *latents))

    def speak(
        self,
        encoded: Encoded,
        steps: int,
        choose: Choice = likeliest,
        *,
        mode: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Spoken:
        """Say so many words, with latent variables from the prior, or from one of its modes."""
        check_sizes(steps=steps)
        state = self.begin(encoded)
        word = self.embedding.weight.new_zeros(encoded.batch, self.embedding.embedding_dim)
        logits, tokens, modes = [], [], []
        for step in range(steps):
            if step == 0 or not self.once:
                prior = self.prior(state).prior
                drawn = self._draw(prior, mode, generator)
            feature, state = self._step(word, drawn.value, prior, self._told(state, step))
            logits.append(self.rnn.cell.readout(feature))
            tokens.append(choose(logits[-1]))
            modes.append(drawn.mode)
            if not self.alone:
                word = self.embedding(tokens[-1])
        return Spoken(torch.stack(logits), torch.stack(tokens), torch.stack(modes))

    def generate(
        self, encoded: Encoded, steps: int, choose: Choice, *, mode: int | None, generator: torch.Generator | None
    ) -> Generated:
        """The words, and the mode behind each."""
        spoken = self.speak(encoded, steps, choose, mode=mode, generator=generator)
        return Generated(spoken.tokens, spoken.modes)

    def begin(self, encoded: Encoded) -> CellState:
        """The state before the first step."""
        return begin(self.rnn.cell, encoded)

    def _hear(self, embedded: Float[Tensor, "A B E"], asked: Bool[Tensor, "A B"] | None) -> Float[Tensor, "A B U"]:
        """h^u_t after each word; after the last of them where one latent variable serves all."""
        lengths = None if asked is None else asked.sum(0)
        output, state = self.utterance(embedded, lengths=lengths)
        return cast(Tensor, state.controller.hidden.expand_as(output) if self.once else output)

    def _infer(self, state: CellState, heard: Float[Tensor, "B U"]) -> Latent:
        belief = self.prior(state)
        posterior = self.posterior(belief.summary, heard)
        return Latent(belief.prior, posterior, sample_gaussian(posterior))

    def _draw(self, prior: Mixture, mode: int | None, generator: torch.Generator | None) -> Drawn:
        if mode is None:
            return sample_mixture(prior, generator)
        batch, modes = prior.log_weights.shape
        if not 0 <= mode < modes:
            raise UserError(f"this model has {modes} modes: write a mode from 0 to {modes - 1}, not {mode}")
        return sample_mode(prior, torch.full((batch,), mode, device=prior.mean.device), generator)

    def _told(self, state: CellState, step: int) -> CellState:
        """What the controller begins a step with."""
        if step or not self.alone:
            return state
        return state._replace(controller=self.rnn.cell.controller.init_state(state.controller.hidden.shape[0]))

    def _step(
        self, word: Float[Tensor, "B E"], latent: Float[Tensor, "B Z"], prior: Mixture, state: CellState
    ) -> tuple[Float[Tensor, "B F"], CellState]:
        cell, inputs = self.rnn.cell, torch.cat([word, latent], dim=1)
        if trace.is_recording():
            trace.observe_modes(cell, prior.log_weights.exp())
        advance = native.advance_for(cell, inputs, self.rnn.engine)
        return cast(tuple[Any, CellState], cell.step(inputs, state, None, advance))
