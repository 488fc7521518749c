"""How much of each input is left in what a network ends with: thesis §6.3.1, theorem 1.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``S`` numbers of the observed state, ``P`` directions.

The contribution of the input at step t to the state at step T is c_{t,T} = ‖∂h_T/∂x_t‖, here the Frobenius norm. It is
measured on any module that maps a sequence. For small states the Jacobian is exact. For large ones it is probed with
random signs v: E‖vᵀJ‖² = ‖J‖², so that the mean over probes is an unbiased estimate of the square.

λ sums a profile up in one number, found in two ways: so that c_{T,T} Σ λ^{T−t} is the sum of the profile (theorem 1),
and from the slope of its logarithm.

Deviations: theorem 1 finds the one λ that matches a sum; it does not say that contributions decay geometrically, and R²
tells how nearly they do. Its premise, λ_c c_{i,t} ≥ c_{i−1,t} with one λ_c, does not hold for every tanh network:
:func:`premise_bound` gives the least λ_c for a profile. The state of an LSTM is h and c, so observe both.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.theory.sizing import Number, interval_contribution

EXACT_UP_TO = 256  # numbers of the observed state; above it the Jacobian is probed
PROBES = 32
ROWS = 256  # sequences that run at the same time

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


def whole_state(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """All that a memory network carries on: the controller's h and c, the memory, and its weightings, batch first."""
    _, state = module(inputs)
    return torch.cat([part.flatten(1) for part in _tensors(state)], dim=1)


def torch_state(module: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """The last state of nn.LSTM, nn.GRU, nn.RNN or a module that returns theirs: (layers, B, H), so batch second."""
    _, state = module(inputs)
    return torch.cat([part.transpose(0, 1).flatten(1) for part in _tensors(state)], dim=1)


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
    if not inputs.is_floating_point() or inputs.dim() != 3 or not inputs.numel():
        given = f"{inputs.dtype} of shape {tuple(inputs.shape)}"
        raise UserError(f"inputs must be floating point, of shape (T, B, I), got {given}: embed tokens first")
    if probes is not None and probes < 1:
        raise UserError(f"probes must be at least 1, or None to choose by size, got {probes}")
    with torch.no_grad():
        size = observe(module, inputs[:, :1]).shape[1]
    if probes is None and size > EXACT_UP_TO:
        probes = PROBES
    squares = inputs.new_zeros(inputs.shape[:2], dtype=torch.float64)
    for directions in _directions(size, inputs.shape[1], probes, generator):
        squares += _squared_products(module, inputs, observe, directions.to(inputs))
    return (squares / (probes or 1)).sqrt()


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


def _directions(
    size: int, batch: int, probes: int | None, generator: torch.Generator | None
) -> Iterator[Float[Tensor, "P B S"]]:
    """All unit vectors, or random signs; as many at a time as the rows allow."""
    at_once = max(1, ROWS // batch)
    if probes is None:
        for units in torch.split(torch.eye(size), at_once):
            yield units.unsqueeze(1).expand(-1, batch, -1)
    else:
        for start in range(0, probes, at_once):
            count = min(at_once, probes - start)
            yield torch.randint(0, 2, (count, batch, size), generator=generator) * 2.0 - 1


def _squared_products(
    module: nn.Module, inputs: Float[Tensor, "T B I"], observe: Observe, directions: Float[Tensor, "P B S"]
) -> Float[Tensor, "T B"]:
    """Σ_p ‖v_pᵀ ∂h_T/∂x_t‖²: every direction gets a copy of the batch, so that one backward pass serves them all."""
    count, batch, _ = directions.shape
    copies = inputs.detach().repeat(1, count, 1).requires_grad_()
    with torch.enable_grad():
        observed = observe(module, copies)
    if not observed.requires_grad:  # a state that depends on nothing
        return inputs.new_zeros(inputs.shape[:2], dtype=torch.float64)
    (products,) = torch.autograd.grad(observed, copies, directions.flatten(0, 1), materialize_grads=True)
    return products.double().square().sum(2).reshape(-1, count, batch).sum(1)


def _tensors(state: Any) -> Iterator[Tensor]:
    """All floating point tensors of a nested state."""
    if isinstance(state, Tensor):
        if state.is_floating_point():
            yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from _tensors(part)


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
