"""How much of each input is left in what a network ends with: thesis §6.3.1, theorem 1.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``S`` numbers of the observed state.

The contribution of the input at step t to the state at step T is c_{t,T} = ‖∂h_T/∂x_t‖, here the Frobenius norm. It is
measured on any module that maps a sequence, as :mod:`mnemon.theory.jacobians` does.

λ sums a profile up in one number, found in two ways: so that c_{T,T} Σ λ^{T−t} is the sum of the profile (theorem 1),
and from the slope of its logarithm.

Deviations: theorem 1 finds the one λ that matches a sum; it does not say that contributions decay geometrically, and R²
tells how nearly they do. Its premise, λ_c c_{i,t} ≥ c_{i−1,t} with one λ_c, does not hold for every tanh network:
:func:`premise_bound` gives the least λ_c for a profile. The state of an LSTM is h and c, so observe both.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.theory.jacobians import Unrolled, jacobian_norms, joined
from mnemon.theory.sizing import Number, interval_contribution

Observe = Callable[[nn.Module, Tensor], Tensor]  # runs a module on (T, B, I) inputs; gives the (B, S) state to follow


class DecayFit(NamedTuple):
    """One number for a profile, and how well it describes it: 1 is perfect, 0 no better than a constant."""

    decay: float  # λ
    r_squared: float


def last_output(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """The output at the last step, of a module that gives (T, B, O) numbers, alone or first in a tuple."""
    output = module(inputs)
    last: Tensor = (output[0] if isinstance(output, tuple) else output)[-1]
    return last


def outputs_after(steps: int) -> Observe:
    """All outputs after so many steps: the answer, where what is asked about is shown first."""

    def observe(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
        output = module(inputs)
        return joined((output[0] if isinstance(output, tuple) else output)[steps:], batch_axis=1)

    return observe


def whole_state(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """All that a memory network carries on: the controller's h and c, the memory, and its weightings, batch first."""
    _, state = module(inputs)
    return joined(state, batch_axis=0)


def torch_state(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """The last state of nn.LSTM, nn.GRU, nn.RNN or a module that returns theirs: (layers, B, H), so batch second."""
    _, state = module(inputs)
    return joined(state, batch_axis=1)


def contributions(
    module: nn.Module,
    inputs: Tensor,
    *,
    observe: Observe = last_output,
    probes: int | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "T B"]:
    """c_{t,T} of every step of every sequence, in float64.

    The module must treat the sequences of a batch apart, and give the same twice: call ``eval()`` where it has dropout.

    Args:
        module: what to measure; its parameters are left as they are.
        inputs: the sequences, (T, B, I).
        observe: what to differentiate, the last output by default.
        probes: random directions for each sequence; by default none, which is exact, up to 256 observed numbers and 32
            above.
        generator: of the random directions.
    """

    def run(sequences: Float[Tensor, "T B I"]) -> Unrolled:
        steps = [step.requires_grad_() for step in sequences.unbind()]
        return Unrolled([[step] for step in steps], observe(module, torch.stack(steps)))

    return jacobian_norms(run, inputs, probes=probes, generator=generator)


def mean_profile(measured: Float[Tensor, "T B"]) -> list[float]:
    """One c_{t,T} for each step: the root mean square over the sequences, which suits estimates of squares."""
    means: list[float] = measured.square().mean(1).sqrt().tolist()
    return means


def average(profile: Sequence[Number]) -> float:
    """1/T Σ_t c_{t,T}, the left side of theorem 1."""
    return math.fsum(profile) / len(profile)


def sum_matched_decay(profile: Sequence[Number]) -> DecayFit:
    """The λ of theorem 1: c_{T,T} Σ_t λ^{T−t} = Σ_t c_{t,T}. R² is that of this curve and may be negative."""
    _check_profile(profile)
    fresh, steps = profile[-1], len(profile)
    ratio = math.fsum(profile) / fresh
    low, high = (0.0, 1.0) if ratio <= steps else (1.0, ratio ** (1 / (steps - 1)))
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if interval_contribution(middle, steps) < ratio else (low, middle)
    decay = high if ratio == steps else low
    largest = max(profile)
    fitted = [fresh / largest * decay**age for age in reversed(range(steps))]
    return DecayFit(decay, _r_squared([part / largest for part in profile], fitted))


def log_slope_decay(profile: Sequence[Number]) -> DecayFit:
    """λ = exp(slope) of the line through ln c_{t,T} over the age T − t; R² is that of the line.

    Contributions that are exactly zero are left out. Where all but the last are, λ is 0.
    """
    _check_profile(profile)
    points = [(age, math.log(part / profile[-1])) for age, part in enumerate(reversed(profile)) if part > 0]
    if len(points) == 1:
        return DecayFit(0.0, 1.0)
    ages, logarithms = zip(*points, strict=True)
    age_mean, log_mean = average(ages), average(logarithms)
    slope = math.fsum((age - age_mean) * (value - log_mean) for age, value in points)
    slope /= math.fsum((age - age_mean) ** 2 for age in ages)
    return DecayFit(math.exp(slope), _r_squared(logarithms, [log_mean + slope * (age - age_mean) for age in ages]))


def premise_bound(profile: Sequence[Number]) -> float:
    """The least λ_c with λ_c c_{t,T} ≥ c_{t−1,T} at every step; infinite where only the older input counts."""
    return max((_quotient(older, newer) for older, newer in itertools.pairwise(profile)), default=0.0)


def _check_profile(profile: Sequence[Number]) -> None:
    if len(profile) < 2:
        raise UserError(f"λ needs a profile of at least 2 steps, got {len(profile)}")
    if not all(0 <= part < math.inf for part in profile):
        raise UserError("a profile must hold finite numbers of at least 0")
    if profile[-1] <= 1e-300 * math.fsum(profile):
        raise UserError("the last input contributes nothing, so there is no λ: observe a state that depends on it")


def _quotient(older: Number, newer: Number) -> float:
    if newer == 0:
        return math.inf if older > 0 else 0.0
    return older / newer


def _r_squared(values: Sequence[Number], fitted: Sequence[Number]) -> float:
    """1 − residual/total squares; where the values are all alike, 1 if the fit meets them."""
    mean = average(values)
    residual = math.fsum((value - fit) ** 2 for value, fit in zip(values, fitted, strict=True))
    total = math.fsum((value - mean) ** 2 for value in values)
    rounding = len(values) * (1e-12 * max(1.0, *map(abs, values))) ** 2
    if residual <= rounding:
        return 1.0
    return 1 - residual / max(total, rounding)
