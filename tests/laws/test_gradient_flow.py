import pytest

from mnemon.errors import UserError
from mnemon.laws.gradient_flow import GradientFlow, Network


def small(network: Network, **settings: float) -> GradientFlow:
    return GradientFlow(network=network, hidden=8, inputs=3, steps=12, sequences=2, **settings)


@pytest.mark.usefixtures("unchecked")
def test_same_seed_same_curves() -> None:
    assert small("lstm").measure(3) == small("lstm").measure(3)
    assert small("lstm").measure(3) != small("lstm").measure(4)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("radius", [0.5, 1.5])
@pytest.mark.parametrize("network", ["rotation", "random"])
def test_flow_stays_below_its_bound(network: Network, radius: float) -> None:
    (curve,) = small(network, radius=radius).measure(0).panels[0].curves
    assert curve.formula is not None
    assert curve.measured[0] == curve.formula[0] == 1
    assert all(found <= said * (1 + 1e-9) for found, said in zip(curve.measured, curve.formula, strict=True))


@pytest.mark.usefixtures("unchecked")
def test_the_bound_of_a_rotation_is_its_radius_and_that_of_random_weights_above() -> None:
    rotation, random = (small(network, radius=0.8).measure(0).metrics for network in ("rotation", "random"))
    assert 0.7 < rotation["formula_per_step"] <= 0.8
    assert random["formula_per_step"] > 0.9
    assert random["factor_per_step"] < 0.8


@pytest.mark.usefixtures("unchecked")
def test_an_lstm_that_does_not_forget_keeps_errors() -> None:
    forgetful, retentive = (small("lstm", forget_bias=bias).measure(0) for bias in (-2.0, 6.0))
    assert forgetful.panels[0].curves[0].measured[-1] < 1e-3
    assert retentive.panels[0].curves[0].measured[-1] > 0.5
    assert retentive.metrics["formula_per_step"] == pytest.approx(0.9975, abs=1e-4)  # σ(6)


@pytest.mark.usefixtures("unchecked")
def test_two_steps_are_enough() -> None:
    law = GradientFlow(hidden=3, inputs=1, steps=2, sequences=1)
    measured = law.measure(0)
    assert measured.metrics["factor_per_step"] == measured.panels[0].curves[0].measured[1]


def test_scale_shortens_sequences() -> None:
    assert GradientFlow(sequences=8).shortened(0.25) == GradientFlow(sequences=2)


@pytest.mark.usefixtures("unchecked")
def test_bad_settings() -> None:
    with pytest.raises(UserError, match="network must be one of rotation, random, lstm, got 'gru'"):
        GradientFlow(network="gru")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="steps at least 2"):
        GradientFlow(steps=1)
