import math

import pytest

from mnemon.errors import UserError
from mnemon.laws.hopfield_capacity import HopfieldCapacity

SMALL = HopfieldCapacity(units=40, loads=(0.1, 0.4), probes=2, trials=1)


@pytest.mark.usefixtures("unchecked")
def test_same_seed_same_curves() -> None:
    assert SMALL.measure(3) == SMALL.measure(3)
    assert SMALL.measure(3) != SMALL.measure(4)


@pytest.mark.usefixtures("unchecked")
def test_one_step_follows_its_formula_and_settling_breaks_down() -> None:
    law = HopfieldCapacity(units=150, loads=(0.1, 0.2, 0.4), probes=20, trials=3)
    once, settled = law.measure(0).panels[0].curves
    assert once.formula is not None
    for measured, formula in zip(once.measured[1:], once.formula[1:], strict=True):
        assert measured == pytest.approx(formula, rel=0.25)
    assert settled.measured[0] < 0.01
    assert settled.measured[-1] > 0.2
    assert settled.formula is not None
    assert math.isnan(settled.formula[-1])


def test_loads_are_those_of_whole_patterns() -> None:
    law = HopfieldCapacity(units=30, loads=(0.1, 0.25), probes=2, trials=1)
    assert law.measure(0).panels[0].curves[0].x == (3 / 30, 8 / 30)


def test_scale_shortens_trials() -> None:
    assert HopfieldCapacity(trials=8).shortened(0.25) == HopfieldCapacity(trials=2)


def test_bad_settings() -> None:
    with pytest.raises(UserError, match="units, probes and trials must be at least 1"):
        HopfieldCapacity(trials=0)
    with pytest.raises(UserError, match=r"each load must make at least one pattern: write shares"):
        HopfieldCapacity(units=10, loads=(0.01,))
