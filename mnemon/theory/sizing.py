"""How many slots, and how often to write: thesis §6.3, theorems 2 and 3, as functions of λ, T and D.

Letters: ``T`` steps of a sequence, ``D`` slots, ``K_i`` steps at which is written, ``l_i`` intervals between them.

An input that is k steps old contributes λ^k to the controller's state. A write keeps that state; so D writes cut the
sequence into D + 1 intervals, and each input decays only up to the end of its own. The average over all inputs is

    I_λ = C/T Σ_i f_λ(l_i),   f_λ(l) = 1 + λ + … + λ^{l−1} = (1 − λ^l) / (1 − λ).

Here C = 1: every I_λ is a share of what an input contributes when it is fresh. For λ < 1 more is better, for λ > 1
less; in both cases equal intervals are best.

Deviations: the writes of uniform writing are K_i = round(i T/(D + 1)) (the thesis's floor(T/(D + 1)) may give one write
too many); a write at the last step is allowed, as an interval of length 0; the derivative of the optimum is not the
printed one (see :func:`optimum_growth`).
"""

import itertools
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.errors import UserError

Number = float | int


class Rival(NamedTuple):
    """The best of the schedules that a schedule was compared with."""

    intervals: list[int]
    contribution: float
    gain: float  # over the schedule, in more for λ ≤ 1 and in less for λ > 1; above 0 only by rounding if it is optimal


class Recommendation(NamedTuple):
    """The smallest memory that reaches a target."""

    slots: int
    interval: float  # T/(D + 1), the optimal interval; the whole ones beside it are in `writes`
    writes: list[int]  # K_i, the steps of uniform writing, counted from 1
    contribution: float  # I_λ with these writes


def interval_contribution(decay: Number, interval: Number) -> float:
    """f_λ(l) = Σ_{j<l} λ^j, for real intervals too: what an interval's inputs have left at its end."""
    _check_decay(decay)
    if not interval >= 0:
        raise UserError(f"an interval must be at least 0 steps long, got {interval}")
    if decay == 0:
        return float(interval > 0)
    if decay == 1:
        return float(interval)
    try:
        return math.expm1(interval * math.log(decay)) / (decay - 1)
    except OverflowError:
        return math.inf


def average_contribution(decay: Number, intervals: Sequence[Number]) -> float:
    """I_λ = 1/T Σ_i f_λ(l_i), where T is the sum of the intervals (theorem 2)."""
    steps = math.fsum(intervals)
    if not steps > 0:
        raise UserError("a schedule needs intervals of at least one step in all")
    return math.fsum(interval_contribution(decay, interval) for interval in intervals) / steps


def intervals_between(writes: Sequence[int], length: int) -> list[int]:
    """l_i of the writes at steps K_1 < … < K_D of 1 … T."""
    _check_length(length)
    edges = [0, *writes, length]
    if any(after <= before for before, after in itertools.pairwise(edges[:-1])) or edges[-2] > length:
        raise UserError(f"writes must be rising steps between 1 and {length}, got {list(writes)}")
    return [after - before for before, after in itertools.pairwise(edges)]


def regular_intervals(length: int, slots: int) -> list[int]:
    """What regular writing leaves: the D writes that are not overwritten follow each other, be they the first or last.

    So D intervals are one step long and one is all the rest, the least equal lengths there are.
    """
    kept = _useful_slots(length, slots)
    return [1] * kept + [length - kept]


def uniform_writes(length: int, slots: int) -> list[int]:
    """K_i = round(i T/(D + 1)), halves up; with D ≥ T slots every step but the last, whose state is there anyway."""
    parts = _useful_slots(length, slots) + 1
    return [(2 * i * length + parts) // (2 * parts) for i in range(1, parts)]


def uniform_intervals(length: int, slots: int) -> list[int]:
    """The optimal whole intervals (theorem 3): they differ by one step at most."""
    return intervals_between(uniform_writes(length, slots), length)


def uniform_contribution(decay: Number, length: int, slots: int) -> float:
    """I_λ of :func:`uniform_intervals`, without listing them."""
    parts = _useful_slots(length, slots) + 1
    short, longer = divmod(length, parts)  # so many intervals are one step longer than the others
    left = (parts - longer) * interval_contribution(decay, short)
    return (left + longer * interval_contribution(decay, short + 1)) / length if longer else left / length


def optimum(decay: Number, ratio: Number) -> float:
    """g_λ(x) = x f_λ(1/x), the best I_λ with intervals of any real length, at a compression ratio x = (D + 1)/T."""
    _check_ratio(ratio)
    return ratio * interval_contribution(decay, 1 / ratio)


def optimum_growth(decay: Number, ratio: Number) -> float:
    """g'_λ(x) = (1 − u + u ln u) / (1 − λ) with u = λ^{1/x}: what more memory adds; for λ ≤ 1 at least 0.

    The thesis prints λ (1 − λ^{1/x}) (x − ln λ), which is not the derivative of its g.
    """
    _check_decay(decay)
    _check_ratio(ratio)
    if decay == 0:
        return 1.0
    if decay == 1:
        return 0.0
    logarithm = math.log(decay) / ratio  # ln u
    try:
        return (logarithm * math.exp(logarithm) - math.expm1(logarithm)) / (1 - decay)
    except OverflowError:
        return -math.inf


def best_rival(decay: Number, intervals: Sequence[int], *, trials: int = 200, seed: int = 0) -> Rival:
    """Perturb a schedule in search of a better one with as many writes.

    One step is moved between every two intervals of different length: as f_λ bends one way, a schedule that none of
    these moves improves is optimal. ``trials`` schedules with writes at random steps are tried besides.
    """
    own = average_contribution(decay, intervals)
    better = 1 if decay <= 1 else -1
    draw = random.Random(seed)
    length, writes = sum(intervals), len(intervals) - 1
    rivals = _exchanges(intervals)
    for _ in range(trials if writes < length else 0):
        rivals.append(intervals_between(sorted(draw.sample(range(1, length), writes)), length))
    if not rivals:
        return Rival(list(intervals), own, 0.0)
    contribution, best = max(
        ((average_contribution(decay, rival), rival) for rival in rivals), key=lambda scored: better * scored[0]
    )
    return Rival(best, contribution, better * (contribution - own))


def recommend(decay: Number, length: int, target: Number) -> Recommendation:
    """The fewest slots with which uniform writing keeps an average contribution of ``target``, and when to write.

    For λ > 1, where contributions grow with age, it is the fewest that hold the average down to 1/target.
    """
    _check_decay(decay)
    _check_length(length)
    if not 0 < target <= 1:
        raise UserError(f"target must be a share above 0 and at most 1, such as 0.9, got {target}")

    def reached(slots: int) -> bool:
        contribution = uniform_contribution(decay, length, slots)
        return min(contribution, 1 / contribution) >= target - 1e-12

    few, enough = -1, length - 1  # writing at every step always reaches it
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if reached(middle) else (middle, enough)
    return Recommendation(
        slots=enough,
        interval=length / (enough + 1),
        writes=uniform_writes(length, enough),
        contribution=uniform_contribution(decay, length, enough),
    )


def _exchanges(intervals: Sequence[int]) -> list[list[int]]:
    """The schedule with one step moved from an interval to another, once for every two lengths."""
    places = {interval: place for place, interval in enumerate(intervals)}  # one place of each length
    moved = []
    for giver, taker in itertools.permutations(places.values(), 2):
        if intervals[giver] > 1:
            changed = list(intervals)
            changed[giver] -= 1
            changed[taker] += 1
            moved.append(changed)
    return moved


def _useful_slots(length: int, slots: int) -> int:
    """D, or T − 1 where there are more slots than states to keep."""
    _check_length(length)
    if slots < 0:
        raise UserError(f"slots must be at least 0, got {slots}")
    return min(slots, length - 1)


def _check_length(length: int) -> None:
    if length < 1:
        raise UserError(f"length must be at least 1 step, got {length}")


def _check_decay(decay: Number) -> None:
    if not 0 <= decay < math.inf:
        raise UserError(f"decay (λ) must be a finite number of at least 0, got {decay}")


def _check_ratio(ratio: Number) -> None:
    if not 0 < ratio <= 1:
        raise UserError(f"ratio (D + 1)/T must be above 0 and at most 1, got {ratio}")
