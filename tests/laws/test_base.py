import json
import math
from typing import Any

import pytest

from mnemon.errors import UserError
from mnemon.laws.base import Curve, Law, Measured, Panel, measured_from_json, shorten
from mnemon.laws.catalogue import LAWS
from mnemon.laws.crossing import crossing

MEASURED = Measured(
    panels=(
        Panel(
            name="a law",
            x_label="x",
            y_label="y",
            curves=(
                Curve(name="with", x=(0.0, 1.0), measured=(1.0, 2.0), formula=(1.5, 2.5)),
                Curve(name="without", x=(0.0,), measured=(1.0,)),
            ),
            y_scale="log",
            marks={"here": 0.5},
        ),
    ),
    metrics={"slope": 1.0},
)


def test_what_was_measured_goes_through_json_and_comes_back() -> None:
    assert measured_from_json(json.loads(json.dumps(MEASURED.to_json()))) == MEASURED


def test_what_is_not_finite_is_a_gap() -> None:
    curve = Curve(name="a", x=(0.0, 1.0), measured=(math.nan, math.inf), formula=(1.0, math.nan))
    panel = Panel(name="p", x_label="x", y_label="y", curves=(curve,))
    text = json.dumps(Measured(panels=(panel,), metrics={"m": math.nan}).to_json(), allow_nan=False)
    back = measured_from_json(json.loads(text))
    assert all(map(math.isnan, back.panels[0].curves[0].measured))
    assert math.isnan(back.metrics["m"])


def test_a_curve_has_a_value_for_each_place() -> None:
    with pytest.raises(UserError, match="curve 'a' has 1 measured values for 2 places: give one for each x"):
        Curve(name="a", x=(0.0, 1.0), measured=(1.0,))
    with pytest.raises(UserError, match="curve 'a' has 3 formula values for 2 places"):
        Curve(name="a", x=(0.0, 1.0), measured=(1.0, 1.0), formula=(1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    "document",
    [{}, {"panels": [], "metrics": 1}, {"panels": [{"name": "p"}], "metrics": {}}, {"panels": 1, "metrics": {}}],
)
def test_other_documents_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="this is not what a law came to"):
        measured_from_json(document)


@pytest.mark.parametrize("law", LAWS.values())
def test_laws_have_their_settings_by_default(law: type[Law]) -> None:
    made = law()
    assert isinstance(made, Law)
    assert made.shortened(1.0) == made
    assert isinstance(made.shortened(1e-9), law)


def test_shortening_leaves_one() -> None:
    assert [shorten(10, scale) for scale in (1.0, 0.5, 0.01)] == [10, 5, 1]


def test_crossings_lie_between_the_places() -> None:
    assert crossing([0.0, 1.0, 2.0], [0.0, 1.0, 5.0], 3.0) == 1.5
    assert crossing([0.0, 1.0], [0.0, 1.0], 1.0) == 1.0
    assert math.isnan(crossing([0.0, 1.0], [0.0, 1.0], 2.0))
    assert math.isnan(crossing([0.0, 1.0], [3.0, 4.0], 2.0)), "it was above already"
    assert crossing([0.0, 1.0, 2.0, 3.0], [math.nan, math.nan, 1.0, 2.0], 1.5) == 2.5
