import pytest

from mnemon.errors import UserError
from mnemon.laws.semantic_stages import SemanticStages, Start

SMALL = SemanticStages(levels=2, hidden=40, time_constant=40, times=16.0)


@pytest.mark.usefixtures("unchecked")
def test_same_seed_same_curves() -> None:
    assert SMALL.measure(3).to_json() == SMALL.measure(3).to_json()
    assert SMALL.measure(3).to_json() != SMALL.measure(4).to_json()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("start", ["random", "balanced"])
def test_learning_lies_on_the_formula_stage_by_stage(start: Start) -> None:
    law = SemanticStages(start=start, levels=2, hidden=40, time_constant=60, times=16.0)
    measured = law.measure(0)
    assert measured.metrics["largest_gap"] < 0.06
    for level in (1, 2):
        learned, predicted = (measured.metrics[f"level_{level}_{which}"] for which in ("learned", "predicted"))
        assert learned == pytest.approx(predicted, rel=0.05)
    assert measured.metrics["level_1_learned"] < measured.metrics["level_2_learned"]
    strengths, distances = measured.panels
    assert [curve.name for curve in strengths.curves] == [
        "all items share",
        "distinctions of level 1",
        "distinctions of level 2",
    ]
    for panel in measured.panels:
        for curve in panel.curves:
            assert curve.formula is not None
            assert curve.measured == pytest.approx(curve.formula, abs=0.1)
    broad, narrow = distances.curves
    assert all(left >= right for left, right in zip(broad.measured[20:], narrow.measured[20:], strict=True))


def test_scale_makes_larger_steps() -> None:
    assert SemanticStages().shortened(0.5) == SemanticStages(time_constant=100)
    assert SemanticStages().shortened(1e-9) == SemanticStages(time_constant=20)


@pytest.mark.usefixtures("unchecked")
def test_bad_settings() -> None:
    with pytest.raises(UserError, match="start must be one of random, balanced, got 'zero'"):
        SemanticStages(start="zero")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="levels must be at least 1, got 0"):
        SemanticStages(levels=0)
    with pytest.raises(UserError, match="time_constant must be at least 5 epochs"):
        SemanticStages(time_constant=1)
