import pytest
import torch

from mnemon.errors import UserError
from mnemon.laws.holographic_noise import HolographicNoise, clean_up_error

SMALL = HolographicNoise(size=32, copies=(1, 4), pairs_per_copy=(0.5, 2.0, 8.0), items=32, trials=4)


def test_both_panels_follow_their_formula_and_curves_fall_together() -> None:
    noise, errors = SMALL.measure(0).panels
    for curve in (*noise.curves, *errors.curves):
        assert curve.formula is not None
        assert curve.measured == pytest.approx(curve.formula, rel=0.2, abs=0.08)
    one, four = noise.curves
    assert one.x == (2.0, 8.0), "one pair has no noise"
    assert four.x == (0.5, 2.0, 8.0)


def test_same_seed_same_curves() -> None:
    assert SMALL.measure(3) == SMALL.measure(3)
    assert SMALL.measure(3) != SMALL.measure(4)


def test_clean_up_formula_by_drawing() -> None:
    generator = torch.Generator().manual_seed(0)
    size, items, variance, trials = 16, 20, 3.0, 4_000
    right = 1 + torch.randn(trials, 1, generator=generator) * (variance / (2 * size)) ** 0.5
    others = torch.randn(trials, items - 1, generator=generator) * ((1 + variance) / (2 * size)) ** 0.5
    drawn = float((others.max(dim=-1, keepdim=True).values > right).float().mean())
    assert clean_up_error(variance, size, items) == pytest.approx(drawn, abs=0.02)
    assert clean_up_error(1e-9, 64, 2) == pytest.approx(0.0, abs=1e-9)
    assert clean_up_error(1.0, 64, 1) == pytest.approx(0.0, abs=1e-9), "there is no other"


def test_bad_settings() -> None:
    with pytest.raises(UserError, match="size, items, trials and copies must be at least 1"):
        HolographicNoise(trials=0)
    with pytest.raises(UserError, match="512 pairs need as many items, not 100: write items=512"):
        HolographicNoise(items=100)
