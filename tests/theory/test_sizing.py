"""Theorems 2 and 3 against sums written out and all schedules there are, and the derivative against differences."""

import itertools
import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.theory import sizing

several = settings(deadline=None, max_examples=60, derandomize=True)
decays = st.one_of(st.sampled_from([0.0, 1e-300, 1e-9, 1 - 1e-12, 1.0, 1 + 1e-12]), st.floats(0, 1.3))
below_one = st.floats(1e-3, 0.999)
lengths = st.integers(1, 60)


def loop_contribution(decay: float, writes: Sequence[int], length: int) -> float:
    """Every input decays up to the next write, or to the end."""
    total = 0.0
    for step in range(1, length + 1):
        kept_at = min([write for write in writes if write >= step], default=length)
        factor = 1.0
        for _ in range(kept_at - step):
            factor *= decay
        total += factor
    return total / length


def all_schedules(length: int, slots: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(1, length), slots))


@several
@given(decays, st.data(), lengths)
def test_average_contribution_is_the_sum_written_out(decay: float, data: st.DataObject, length: int) -> None:
    writes = sorted(data.draw(st.sets(st.integers(1, length))))
    found = sizing.average_contribution(decay, sizing.intervals_between(writes, length))
    assert found == pytest.approx(loop_contribution(decay, writes, length), rel=1e-9)


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.9, 0.999])
@pytest.mark.parametrize(("length", "slots"), [(1, 0), (2, 1), (7, 2), (10, 3), (11, 4), (9, 8)])
def test_no_schedule_keeps_more_than_uniform_writing(decay: float, length: int, slots: int) -> None:
    """Theorem 3 for whole intervals."""
    best = max(loop_contribution(decay, writes, length) for writes in all_schedules(length, slots))
    writes = sizing.uniform_writes(length, slots)
    assert len(writes) == slots
    assert loop_contribution(decay, writes, length) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("decay", [1.01, 1.5])
@pytest.mark.parametrize(("length", "slots"), [(7, 2), (10, 3), (11, 4)])
def test_above_one_no_schedule_grows_less_than_uniform_writing(decay: float, length: int, slots: int) -> None:
    least = min(loop_contribution(decay, writes, length) for writes in all_schedules(length, slots))
    assert loop_contribution(decay, sizing.uniform_writes(length, slots), length) == pytest.approx(least, rel=1e-12)


@pytest.mark.parametrize("decay", [0.3, 0.9])
@pytest.mark.parametrize(("length", "slots"), [(7, 2), (10, 3), (11, 4)])
def test_no_schedule_keeps_less_than_regular_writing(decay: float, length: int, slots: int) -> None:
    worst = min(loop_contribution(decay, writes, length) for writes in all_schedules(length, slots))
    first, last = range(1, slots + 1), range(length - slots, length)
    for writes in (first, last):
        assert loop_contribution(decay, writes, length) == pytest.approx(worst, rel=1e-12)
    kept = sizing.average_contribution(decay, sizing.regular_intervals(length, slots))
    assert kept == pytest.approx(worst, rel=1e-12)


@several
@given(decays, st.lists(st.floats(0.1, 20), min_size=2, max_size=9))
def test_real_intervals_are_best_when_equal(decay: float, intervals: list[float]) -> None:
    """Theorem 3 as stated, with intervals of any length."""
    equal = [math.fsum(intervals) / len(intervals)] * len(intervals)
    uneven, even = (sizing.average_contribution(decay, lengths) for lengths in (intervals, equal))
    slack = 1e-9 * even
    assert uneven <= even + slack if decay <= 1 else uneven >= even - slack


def test_equal_intervals_alone_are_best() -> None:
    even = sizing.average_contribution(0.9, [4.0, 4.0, 4.0])
    assert sizing.average_contribution(0.9, [4.0, 3.9, 4.1]) < even - 1e-6
    assert sizing.average_contribution(1.1, [4.0, 3.9, 4.1]) > even


@several
@given(lengths, st.integers(0, 70))
def test_uniform_intervals_differ_by_one_step_at_most(length: int, slots: int) -> None:
    intervals = sizing.uniform_intervals(length, slots)
    assert sum(intervals) == length
    assert len(intervals) == min(slots, length - 1) + 1
    assert min(intervals) >= 1
    assert max(intervals) - min(intervals) <= 1


@pytest.mark.parametrize(("length", "slots", "writes"), [(50, 4, [10, 20, 30, 40]), (19, 9, None), (1, 5, [])])
def test_uniform_writes_where_the_printed_floor_fails(length: int, slots: int, writes: list[int] | None) -> None:
    found = sizing.uniform_writes(length, slots)
    assert found == (writes if writes is not None else [round(i * length / (slots + 1)) for i in range(1, slots + 1)])
    interval = length // (slots + 1)
    printed = [step for step in range(1, length + 1) if interval and step % interval == 0]
    assert len(printed) > len(found) or length == 1


@several
@given(decays, lengths, st.integers(0, 70))
def test_uniform_contribution_is_that_of_its_intervals(decay: float, length: int, slots: int) -> None:
    expected = loop_contribution(decay, sizing.uniform_writes(length, slots), length)
    assert sizing.uniform_contribution(decay, length, slots) == pytest.approx(expected, rel=1e-9)


@several
@given(decays, lengths, st.integers(0, 70))
def test_more_slots_never_hurt(decay: float, length: int, slots: int) -> None:
    fewer, more = (sizing.uniform_contribution(decay, length, count) for count in (slots, slots + 1))
    slack = 1e-9 * fewer
    assert more >= fewer - slack if decay <= 1 else more <= fewer + slack


@pytest.mark.parametrize("decay", [0.0, 0.5, 1.0, 1.2])
def test_as_many_slots_as_steps_keep_everything(decay: float) -> None:
    for slots in (6, 7, 100):
        assert sizing.uniform_contribution(decay, 7, slots) == 1
        assert sizing.uniform_intervals(7, slots) == sizing.regular_intervals(7, slots) == [1] * 7


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.99, 1.0, 1.2])
def test_without_slots_it_is_theorem_one(decay: float) -> None:
    assert sizing.uniform_contribution(decay, 12, 0) == pytest.approx(loop_contribution(decay, [], 12), rel=1e-12)
    assert sizing.optimum(decay, 1 / 12) == pytest.approx(loop_contribution(decay, [], 12), rel=1e-12)


@several
@given(decays, st.integers(1, 12), st.integers(1, 12))
def test_optimum_is_met_where_the_slots_divide_the_length(decay: float, parts: int, interval: int) -> None:
    length = parts * interval
    exact = sizing.uniform_contribution(decay, length, parts - 1)
    assert sizing.optimum(decay, parts / length) == pytest.approx(exact, rel=1e-9)


@several
@given(st.one_of(below_one, st.floats(1.001, 1.5)), st.floats(0.05, 0.99))
def test_growth_is_the_slope_of_the_optimum(decay: float, ratio: float) -> None:
    step = 1e-6
    slope = (sizing.optimum(decay, ratio + step) - sizing.optimum(decay, ratio - step)) / (2 * step)
    assert sizing.optimum_growth(decay, ratio) == pytest.approx(slope, rel=1e-4, abs=1e-7)


@several
@given(below_one, st.floats(0.05, 1))
def test_growth_is_positive_and_falls(decay: float, ratio: float) -> None:
    growth = sizing.optimum_growth(decay, ratio)
    assert 0 < growth <= (1 + 1e-12) / (1 - decay)
    assert sizing.optimum_growth(decay, ratio / 2) >= growth * (1 - 1e-9)


def test_the_printed_derivative_is_another() -> None:
    decay, ratio = 0.9, 0.2
    printed = decay * (1 - decay ** (1 / ratio)) * (ratio - math.log(decay))
    assert sizing.optimum_growth(decay, ratio) != pytest.approx(printed, rel=0.1)


@pytest.mark.parametrize(("decay", "limit"), [(0.0, 1.0), (1.0, 0.0)])
def test_growth_meets_its_limits(decay: float, limit: float) -> None:
    near = decay + 1e-12 if decay == 0 else decay - 1e-9
    assert sizing.optimum_growth(decay, 0.5) == limit
    assert sizing.optimum_growth(near, 0.5) == pytest.approx(limit, abs=1e-8)


@several
@given(decays, lengths, st.integers(0, 70))
def test_no_rival_beats_uniform_writing(decay: float, length: int, slots: int) -> None:
    intervals = sizing.uniform_intervals(length, slots)
    rival = sizing.best_rival(decay, intervals, trials=50)
    assert rival.gain <= 1e-9 * sizing.average_contribution(decay, intervals)


@several
@given(st.one_of(st.floats(0.05, 0.95), st.floats(1.05, 1.3)), st.data(), st.integers(4, 20))
def test_a_rival_beats_every_other_schedule(decay: float, data: st.DataObject, length: int) -> None:
    """Even without luck: one step moved between two intervals is enough to find out."""
    writes = sorted(data.draw(st.sets(st.integers(1, length - 1), min_size=1)))
    intervals = sizing.intervals_between(writes, length)
    rival = sizing.best_rival(decay, intervals, trials=0)
    improvable = max(intervals) - min(intervals) > 1
    assert (rival.gain > 1e-12) == improvable
    assert sum(rival.intervals) == length
    assert rival.contribution == pytest.approx(sizing.average_contribution(decay, rival.intervals), rel=1e-12)


def test_rivals_repeat_themselves() -> None:
    one, two = (sizing.best_rival(0.9, [9, 2, 5], trials=20, seed=3) for _ in range(2))
    assert one == two
    assert one != sizing.best_rival(0.9, [9, 2, 5], trials=20, seed=4)


@several
@given(decays, lengths, st.floats(0.01, 1))
def test_recommendation_is_the_smallest_that_reaches_the_target(decay: float, length: int, target: float) -> None:
    advice = sizing.recommend(decay, length, target)

    def share(slots: int) -> float:
        kept = loop_contribution(decay, sizing.uniform_writes(length, slots), length)
        return min(kept, 1 / kept)

    assert share(advice.slots) >= target - 1e-9
    assert advice.slots == 0 or share(advice.slots - 1) < target + 1e-9
    assert advice.writes == sizing.uniform_writes(length, advice.slots)
    for interval in sizing.intervals_between(advice.writes, length):
        assert abs(interval - advice.interval) < 1


def test_recommendation_by_hand() -> None:
    assert sizing.recommend(0.0, 10, 1.0) == sizing.Recommendation(9, 1.0, list(range(1, 10)), 1.0)
    assert sizing.recommend(0.0, 10, 0.5) == sizing.Recommendation(4, 2.0, [2, 4, 6, 8], 0.5)
    assert sizing.recommend(1.0, 10, 1.0) == sizing.Recommendation(0, 10.0, [], 1.0)
    assert sizing.recommend(0.5, 1, 1.0) == sizing.Recommendation(0, 1.0, [], 1.0)


def test_above_one_memory_is_advised_against_growth() -> None:
    advice = sizing.recommend(1.1, 50, 0.5)
    assert 0 < advice.slots < 49
    assert advice.contribution <= 2
    assert sizing.uniform_contribution(1.1, 50, advice.slots - 1) > 2


def test_endless_growth_is_infinite_rather_than_an_error() -> None:
    assert sizing.uniform_contribution(10.0, 10_000, 0) == math.inf
    assert sizing.optimum_growth(10.0, 1e-4) == -math.inf
    assert sizing.recommend(10.0, 10_000, 0.9).slots > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sizing.recommend(-0.1, 10, 0.9), "decay (λ) must be a finite number of at least 0, got -0.1"),
        (lambda: sizing.recommend(math.nan, 10, 0.9), "got nan"),
        (lambda: sizing.recommend(math.inf, 10, 0.9), "got inf"),
        (lambda: sizing.recommend(0.9, 0, 0.9), "length must be at least 1 step, got 0"),
        (lambda: sizing.recommend(0.9, 10, 0), "target must be a share above 0 and at most 1, such as 0.9, got 0"),
        (lambda: sizing.recommend(0.9, 10, 1.1), "got 1.1"),
        (lambda: sizing.uniform_writes(10, -1), "slots must be at least 0, got -1"),
        (lambda: sizing.intervals_between([3, 3], 10), "writes must be rising steps between 1 and 10, got [3, 3]"),
        (lambda: sizing.intervals_between([0], 10), "got [0]"),
        (lambda: sizing.intervals_between([11], 10), "got [11]"),
        (lambda: sizing.average_contribution(0.9, []), "at least one step in all"),
        (lambda: sizing.average_contribution(0.9, [3, -1]), "at least 0 steps long, got -1"),
        (lambda: sizing.optimum(0.9, 0), "ratio (D + 1)/T must be above 0 and at most 1, got 0"),
        (lambda: sizing.optimum_growth(0.9, 1.5), "got 1.5"),
    ],
)
def test_bad_input_is_one_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UserError) as raised:
        call()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
