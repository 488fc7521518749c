"""Priors and posteriors of latent variables (thesis §5.3.1, §5.3.2).

Letters: ``B`` batch, ``K`` modes, which are read heads, ``N`` slots, ``W`` word, ``Z`` latent W/2, ``H`` hidden,
``S`` summary, ``U`` utterance encoder.

VMED's prior is a mixture with a mode for each read vector r^i_{t−1}: its first half is the mean, softplus of its second
half the s.d., and how sharply its head looked gives the weight,

    π_i = max_n w^{r,i}_n / Σ_j max_n w^{r,j}_n.

The posterior is a Gaussian from what the prior comes from and the answer so far, [r̄, h^u_t] with r̄ = Σ_i π_i r^i.
Baselines without a memory have a Gaussian prior from a controller's state h in place of the reads (CVAE, VLSTM).

Beyond the thesis, which leaves the number of modes to the future: with ``sparse`` or ``stick-breaking`` weights modes
can drop out, so that K is the largest number of modes, and how many are in use is chosen at every step.

And heads that read alike are one mode, which nothing drives apart, while a head that looks nowhere is a mode without
weight, which nothing brings back. :class:`MappedPrior` makes each mode of what its head reads by a learned map of its
own, [μ_i, s_i, a_i] = A_i r^i + b_i, so that modes begin apart and move by themselves, and keeps half of all weight for
equal shares: π_i = ½ (1/K + softmax(a)_i).

Deviations: every s.d. is lifted by 1e-6, so that none is zero; 1e-6 is added to each max w for the same reason.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.cell import CellState
from mnemon.errors import UserError, look_up
from mnemon.memory.base import check_sizes
from mnemon.theory.mixtures import Gaussian, Mixture, log_weights, one_mode

SMALLEST = 1e-6  # s.d., and attention of a head
SHARPNESS = 8.0  # of sparse weights: a head that looks an eighth more sharply than another can put it out of use

APART = 3.0  # s.d. of the means that mapped modes begin with: several of their own, which are softplus(0)

Weighting = Callable[[Float[Tensor, "B K"]], Float[Tensor, "B K"]]


def normalised(attention: Float[Tensor, "B K"]) -> Float[Tensor, "B K"]:
    """The thesis's: each head's share of all attention."""
    lifted = attention + SMALLEST
    return lifted / lifted.sum(1, keepdim=True)


def sparse(attention: Float[Tensor, "B K"]) -> Float[Tensor, "B K"]:
    """Sparsemax (Martins and Astudillo, 2016): the nearest point of the simplex, at whose edges modes drop out."""
    scores = SHARPNESS * attention
    ordered = scores.sort(dim=1, descending=True).values
    ranks = torch.arange(1, scores.shape[1] + 1, device=scores.device, dtype=scores.dtype)
    sums = ordered.cumsum(1)
    support = (1 + ranks * ordered > sums).sum(1, keepdim=True)  # how many are above the threshold
    threshold = (sums.gather(1, support - 1) - 1) / support
    return (scores - threshold).clamp_min(0)


def stick_breaking(attention: Float[Tensor, "B K"]) -> Float[Tensor, "B K"]:
    """Each mode takes, of what those before it left, as much as its head is sharp; the last takes the rest."""
    kept = 1 - attention[:, :-1]
    left = torch.cat([torch.ones_like(attention[:, :1]), torch.cumprod(kept, dim=1)], dim=1)
    taken = torch.cat([attention[:, :-1], torch.ones_like(attention[:, :1])], dim=1)
    return left * taken


def even(attention: Float[Tensor, "B K"]) -> Float[Tensor, "B K"]:
    """All alike, however sharply their heads look."""
    return torch.full_like(attention, 1 / attention.shape[1])


WEIGHTINGS: dict[str, Weighting] = {
    "max": normalised,
    "even": even,
    "sparse": sparse,
    "stick-breaking": stick_breaking,
}


class Belief(NamedTuple):
    """What is known before a step: the prior, and the summary that the posterior sees."""

    prior: Mixture
    summary: Float[Tensor, "B S"]


class ReadPrior(nn.Module):
    """A mixture from what a memory's heads read.

    Args:
        word: W, even.
        weighting: how heads become weights: max, even, sparse or stick-breaking.
    """

    def __init__(self, word: int, *, weighting: str = "max") -> None:
        super().__init__()
        check_sizes(word=word)
        if word % 2:
            raise UserError(f"each read vector is a mean and an s.d.: write an even word in place of {word}")
        self.weigh = look_up(WEIGHTINGS, weighting, "mode weighting")
        self.latent_size, self.summary_size, self.weighting = word // 2, word, weighting

    def forward(self, state: CellState) -> Belief:
        """From the reads after the last step."""
        reads: Float[Tensor, "B K W"] = state.memory.reads
        weights = self.weigh(state.memory.read_weights.amax(2))
        mean, spread = reads.chunk(2, dim=2)
        prior = Mixture(log_weights(weights), mean, deviation(spread))
        return Belief(prior, torch.einsum("bk,bkw->bw", weights, reads))

    def extra_repr(self) -> str:
        """Its options."""
        return f"latent={self.latent_size}, weighting={self.weighting}"


class MappedPrior(nn.Module):
    """A mixture of which each mode is what a map of its own makes of the read; the summary is the mean of the reads.

    Args:
        word: W.
        heads: K.
        latent_size: Z, of any size.
    """

    def __init__(self, word: int, heads: int, latent_size: int) -> None:
        super().__init__()
        check_sizes(word=word, heads=heads, latent_size=latent_size)
        self.latent_size, self.summary_size = latent_size, word
        self.maps = nn.Parameter(torch.zeros(heads, word, 2 * latent_size + 1))  # A_i
        self.places = nn.Parameter(torch.zeros(heads, 2 * latent_size + 1))  # b_i
        nn.init.normal_(self.maps[..., :-1], std=word**-0.5)
        nn.init.normal_(self.places[:, :latent_size], std=APART)

    def forward(self, state: CellState) -> Belief:
        """From the reads after the last step."""
        reads: Float[Tensor, "B K W"] = state.memory.reads
        modes = torch.einsum("bkw,kwz->bkz", reads, self.maps) + self.places
        mean, spread = modes[..., :-1].chunk(2, dim=2)
        weights = (torch.softmax(modes[..., -1], dim=1) + 1 / len(self.maps)) / 2
        return Belief(Mixture(weights.log(), mean, deviation(spread)), reads.mean(1))

    def extra_repr(self) -> str:
        """Its sizes."""
        return f"latent={self.latent_size}, modes={len(self.maps)}"


class HiddenPrior(nn.Module):
    """A Gaussian from a controller's state: N(W_μ h + b_μ, softplus(W_σ h + b_σ)²).

    Args:
        hidden_size: H.
        latent_size: Z.
    """

    def __init__(self, hidden_size: int, latent_size: int) -> None:
        super().__init__()
        check_sizes(hidden_size=hidden_size, latent_size=latent_size)
        self.latent_size, self.summary_size = latent_size, hidden_size
        self.network = nn.Linear(hidden_size, 2 * latent_size)

    def forward(self, state: CellState) -> Belief:
        """From the state after the last step."""
        hidden: Any = state.controller.hidden
        mean, spread = self.network(hidden).chunk(2, dim=1)
        return Belief(one_mode(Gaussian(mean, deviation(spread))), hidden)


Prior = ReadPrior | MappedPrior | HiddenPrior


class Posterior(nn.Module):
    """N(W_μ [s, h^u] + b_μ, softplus(W_σ [s, h^u] + b_σ)²) from a summary s and the answer so far.

    Args:
        summary_size: S.
        utterance_size: U.
        latent_size: Z.
    """

    def __init__(self, summary_size: int, utterance_size: int, latent_size: int) -> None:
        super().__init__()
        self.network = nn.Linear(summary_size + utterance_size, 2 * latent_size)

    def forward(self, summary: Float[Tensor, "B S"], utterance: Float[Tensor, "B U"]) -> Gaussian:
        """Of one step."""
        mean, spread = self.network(torch.cat([summary, utterance], dim=1)).chunk(2, dim=1)
        return Gaussian(mean, deviation(spread))


def deviation(numbers: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """An s.d. from any number."""
    return F.softplus(numbers) + SMALLEST
