import math

import pytest

from mnemon.errors import UserError
from mnemon.laws.fisher_curves import SIZES, FisherCurves, Network

NETWORKS: list[Network] = ["rotation", "symmetric", "random", "delay line"]


def small(network: Network = "rotation", **settings: bool | float) -> FisherCurves:
    return FisherCurves(network=network, units=6, radius=0.7, ages=8, trajectories=1500, **settings)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
def test_same_seed_same_curves() -> None:
    assert small().measure(3).to_json() == small().measure(3).to_json()
    assert small().measure(3).to_json() != small().measure(4).to_json()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("network", NETWORKS)
def test_simulation_lies_on_the_formula(network: Network) -> None:
    measured = small(network).measure(0)
    (curve,) = measured.panels[0].curves
    assert curve.formula is not None
    for found, said in zip(curve.measured, curve.formula, strict=True):
        assert found == pytest.approx(said, rel=0.25, nan_ok=True)
    assert math.isnan(curve.measured[6]) == (network == "delay line")  # of six units, nothing older is left
    assert measured.metrics["total_measured"] == pytest.approx(measured.metrics["total"], rel=0.15)


@pytest.mark.usefixtures("unchecked")
def test_whole_memory_by_size() -> None:
    for network, totals in (("rotation", [1.0] * len(SIZES)), ("symmetric", [1.0] * len(SIZES))):
        curve = small(network).measure(0).panels[1].curves[0]  # type: ignore[arg-type]
        assert curve.measured == pytest.approx(totals)
        assert curve.formula == tuple(totals)
    line = small("delay line", power=4.0).measure(0).panels[1].curves[0]
    assert line.formula is not None
    assert line.measured == pytest.approx(line.formula)
    assert all(0.7 * size < total <= size for size, total in zip(SIZES, line.measured, strict=True))


@pytest.mark.usefixtures("unchecked")
def test_curves_are_in_units_of_the_noise_and_tanh_falls_below() -> None:
    quiet, loud = (small(squashed=True, noise=noise).measure(0).panels for noise in (1e-6, 1.0))
    assert len(quiet) == len(loud) == 1
    assert quiet[0].name == "Fisher memory of 6 tanh units"
    (near,), (far,) = quiet[0].curves, loud[0].curves
    assert near.formula == pytest.approx(far.formula)
    assert near.formula is not None
    assert near.measured[-1] == pytest.approx(near.formula[-1], rel=0.25)
    assert far.measured[-1] < 0.2 * near.formula[-1]


def test_scale_shortens_trajectories_to_more_than_units() -> None:
    assert FisherCurves().shortened(0.5) == FisherCurves(trajectories=2_000)
    assert FisherCurves().shortened(1e-9) == FisherCurves(trajectories=100)
    assert FisherCurves(trajectories=60).shortened(0.1) == FisherCurves(trajectories=60)


@pytest.mark.usefixtures("unchecked")
def test_bad_settings() -> None:
    with pytest.raises(UserError, match="network must be one of rotation, symmetric, random, delay line, got 'ring'"):
        FisherCurves(network="ring")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="units and ages must be at least 1"):
        FisherCurves(ages=0)
