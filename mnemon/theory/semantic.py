"""How a network comes to know: the learning dynamics of a deep linear network (thesis §2.2.2; Saxe, McClelland and
Ganguli, 2019).

Letters: ``P`` items, ``O`` properties, ``H`` hidden, ``A`` modes, ``E`` recorded epochs.

A network ŷ = W2 W1 x learns which properties each item has, by gradient descent on ½‖y − ŷ‖². Over an epoch of P items,
with learning rate λ and τ = 1/(P λ),

    τ dW1/dt = W2ᵀ (Σʸˣ − W2 W1 Σˣ),   τ dW2/dt = (Σʸˣ − W2 W1 Σˣ) W1ᵀ.

Where Σˣ = I and Σʸˣ = U S Vᵀ, each mode α of U, S, V is learned by itself: its strength in W2 W1 is

    a(t) = s e^{2st/τ} / (e^{2st/τ} − 1 + s/a(0)),

a step that comes the sooner the stronger the mode. In a hierarchy strong modes are broad distinctions: the network
tells animals from plants before birds from fish.

Deviations: the thesis's W2 = U W̄2 R is W2 = U W̄2 Rᵀ, and its update rule belongs to ½‖·‖², not ‖·‖². The closed form is
for weights that begin balanced, W̄1 = W̄2; small random ones are not, and a(0) = uᵀ W2 W1 v may even be negative. Of the
two hidden vectors of a mode, W1 v and W2ᵀ u, half the sum grows and half the difference fades, so
:func:`effective_start` takes the square of the growing part.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError


class Lesson(NamedTuple):
    """What there is to learn, an item a row. The inputs are white, Σˣ = I."""

    inputs: Float[Tensor, "P P"]  # √P times the unit vectors
    properties: Float[Tensor, "P O"]


class Modes(NamedTuple):
    """Σʸˣ = U S Vᵀ, the strongest first."""

    properties: Float[Tensor, "O A"]  # U
    strengths: Float[Tensor, "A"]  # s
    items: Float[Tensor, "P A"]  # V


class Weights(NamedTuple):
    """The two layers."""

    first: Float[Tensor, "H P"]  # W1
    second: Float[Tensor, "O H"]  # W2


class Course(NamedTuple):
    """What a network knew, epoch by epoch."""

    epochs: Float[Tensor, "E"]
    strengths: Float[Tensor, "E A"]  # a(t) of each mode
    starts: Float[Tensor, "A"]  # a(0) as the closed form takes it
    weights: list[Weights]  # of each recorded epoch


def hierarchy(levels: int, branching: int = 2) -> Lesson:
    """The leaves of a tree are the items, its nodes the properties: an item has those of all nodes above it.

    The root, which is above all, is level 0; so ``levels=3, branching=2`` has 8 items and 15 properties.
    """
    if levels < 0 or branching < 2:
        raise UserError(f"a hierarchy needs levels ≥ 0 and branching ≥ 2, got {levels} and {branching}")
    items = branching**levels
    leaves = torch.arange(items)
    properties = [
        torch.nn.functional.one_hot(leaves // branching ** (levels - level), branching**level).double()
        for level in range(levels + 1)
    ]
    return Lesson(math.sqrt(items) * torch.eye(items, dtype=torch.float64), torch.cat(properties, dim=1))


def hierarchy_strengths(levels: int, branching: int = 2) -> list[float]:
    """s of the modes of :func:`hierarchy`, by level of the distinction: the root's, then each level's, strongest first.

    A distinction below level l is shared by the nodes under it: s² = 1/P Σ_{m>l} bᴸ⁻ᵐ, one for each child but one.
    """
    items = branching**levels
    shares = [branching ** (levels - level) for level in range(levels + 1)]  # items below a node of each level
    strengths = [math.sqrt(sum(shares) / items)]
    for level in range(levels):
        count = branching**level * (branching - 1)
        strengths += [math.sqrt(sum(shares[level + 1 :]) / items)] * count
    return strengths


def modes_of(lesson: Lesson) -> Modes:
    """The singular value decomposition of Σʸˣ = E[y xᵀ]."""
    correlation = torch.einsum("po,pi->oi", lesson.properties, lesson.inputs) / len(lesson.inputs)
    properties, strengths, items = torch.linalg.svd(correlation, full_matrices=False)
    return Modes(properties, strengths, items.T)


def learned_strengths(
    times: Float[Tensor, "E"], strengths: Float[Tensor, "A"], starts: Float[Tensor, "A"]
) -> Float[Tensor, "E A"]:
    """a(t) of modes of strength s that begin at a(0), with t in units of τ. Nothing overflows, and s may be 0."""
    exponents = 2 * times[:, None] * strengths
    small = exponents < 1e-8  # where (1 − e⁻ˣ)/x is 1 − x/2, also for s = 0
    divisors = torch.where(small, 1, exponents)
    elapsed = 2 * times[:, None] * torch.where(small, 1 - exponents / 2, -torch.expm1(-divisors) / divisors)
    return starts / (torch.exp(-exponents) + starts * elapsed)


def learning_time(strength: float, start: float, share: float = 0.5) -> float:
    """When a(t) reaches a share of s, in units of τ: ln((s/a(0) − 1) share/(1 − share)) / 2s."""
    if not 0 < start < share * strength or not share < 1:
        raise UserError(f"a mode of strength {strength} that begins at {start} is not on its way up to {share} of it")
    return math.log((strength / start - 1) * share / (1 - share)) / (2 * strength)


def random_weights(lesson: Lesson, hidden: int, scale: float, generator: torch.Generator) -> Weights:
    """Gaussian numbers of standard deviation ``scale``/√H, the same for both layers."""
    if hidden < 1 or not scale > 0:
        raise UserError(f"hidden must be at least 1 and scale above 0, got {hidden} and {scale}")
    sizes = (hidden, lesson.inputs.shape[1]), (lesson.properties.shape[1], hidden)
    first, second = (torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes)
    return Weights(first * scale / math.sqrt(hidden), second * scale / math.sqrt(hidden))


def balanced_weights(lesson: Lesson, start: float, hidden: int, generator: torch.Generator) -> Weights:
    """W1 = R √A(0) Vᵀ and W2 = U √A(0) Rᵀ with every a(0) = ``start``: where the closed form is exact."""
    modes = modes_of(lesson)
    count = len(modes.strengths)
    if hidden < count or not start > 0:
        raise UserError(f"{count} modes need at least as many hidden units and a start above 0, got {hidden}, {start}")
    drawn = torch.randn(hidden, count, generator=generator, dtype=torch.float64)
    rotation = math.sqrt(start) * torch.linalg.qr(drawn).Q
    return Weights(rotation @ modes.items.T, modes.properties @ rotation.T)


def mode_strengths(weights: Weights, modes: Modes) -> Float[Tensor, "A"]:
    """a = uᵀ W2 W1 v of each mode."""
    return torch.einsum("oa,oh,hp,pa->a", modes.properties, weights.second, weights.first, modes.items)


def effective_start(weights: Weights, modes: Modes) -> Float[Tensor, "A"]:
    """a(0) that grows: ‖(W1 v + W2ᵀ u)/2‖², which is uᵀ W2 W1 v where the weights are balanced."""
    from_items = weights.first @ modes.items
    from_properties = weights.second.T @ modes.properties
    return ((from_items + from_properties) / 2).square().sum(0)


def item_distances(modes: Modes, strengths: Float[Tensor, "A"]) -> Float[Tensor, "P P"]:
    """How far apart items are in the hidden layer where modes are so strong: h_i = √a v_i, for inputs of length √P."""
    hidden = math.sqrt(len(modes.items)) * modes.items * strengths.sqrt()
    return torch.cdist(hidden, hidden)


def hidden_distances(weights: Weights, lesson: Lesson) -> Float[Tensor, "P P"]:
    """How far apart a network has them."""
    hidden = lesson.inputs @ weights.first.T
    return torch.cdist(hidden, hidden)


def epoch_step(weights: Weights, lesson: Lesson, rate: float) -> Weights:
    """ΔW1 = λ W2ᵀ Σ_i (y_i − ŷ_i) x_iᵀ and ΔW2 = λ Σ_i (y_i − ŷ_i) (W1 x_i)ᵀ, over all items at once."""
    hidden = lesson.inputs @ weights.first.T
    errors = lesson.properties - hidden @ weights.second.T
    return Weights(
        weights.first + rate * torch.einsum("oh,po,pi->hi", weights.second, errors, lesson.inputs),
        weights.second + rate * torch.einsum("po,ph->oh", errors, hidden),
    )


def learn(lesson: Lesson, weights: Weights, *, rate: float, epochs: int, every: int = 1) -> Course:
    """Gradient descent, with the strength of each mode before it, and after every so many epochs."""
    if not rate > 0 or epochs < 0 or every < 1:
        raise UserError(f"rate must be above 0, epochs at least 0 and every at least 1, got {rate}, {epochs}, {every}")
    modes = modes_of(lesson)
    recorded = [weights]
    for epoch in range(1, epochs + 1):
        weights = epoch_step(weights, lesson, rate)
        if epoch % every == 0:
            recorded.append(weights)
    known = torch.stack([mode_strengths(each, modes) for each in recorded])
    if not known.isfinite().all():
        raise UserError(f"a learning rate of {rate} is too large, so that the weights ran away: write a smaller one")
    when = torch.arange(0, epochs + 1, every, dtype=torch.float64)
    return Course(when, known, effective_start(recorded[0], modes), recorded)
