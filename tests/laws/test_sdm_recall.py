from dataclasses import replace

import pytest

from mnemon.errors import UserError
from mnemon.laws.sdm_recall import SdmRecall

SMALL = SdmRecall(bits=64, locations=300, items=40, radii=(20, 24, 28), flips=(0, 8, 16), trials=6)


def test_curves_follow_the_formula_both_ways() -> None:
    measured = SMALL.measure(0)
    by_noise, by_radius = measured.panels
    for curve in (*by_noise.curves, *by_radius.curves):
        assert curve.formula is not None
        assert curve.measured == pytest.approx(curve.formula, abs=0.06)
        assert len(curve.x) == 3
    assert by_noise.curves[1].measured[2] == by_radius.curves[1].measured[1], "radius 24, 16 bits flipped"
    assert measured.metrics["largest_gap"] < 0.06
    assert measured.metrics["best_radius"] == 24.0


def test_same_seed_same_curves() -> None:
    law = replace(SMALL, radii=(24,), trials=1)
    assert law.measure(3) == law.measure(3)
    assert law.measure(3) != law.measure(4)


def test_bad_settings() -> None:
    with pytest.raises(UserError, match="bits, locations, items and trials must be at least 1"):
        SdmRecall(items=0)
    with pytest.raises(UserError, match="radii and flips must be numbers of bits, up to 64"):
        SdmRecall(bits=64)
