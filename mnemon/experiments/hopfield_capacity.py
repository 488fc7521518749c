"""The capacity of a Hopfield network (thesis §2.3.1): wrong units against patterns a unit.

The thesis's 0.18 is where one unit in a hundred flips in one step; patterns are lost for good where settling begins to
leave them, at 0.138 for networks without end.
"""

from mnemon.laws.hopfield_capacity import HopfieldCapacity
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement


def measurements() -> list[Measurement]:
    """One size of network, large enough for the bend at 0.138 to show."""
    law = HopfieldCapacity()
    return [
        Measurement(
            setting=f"{law.units} units",
            model="Hopfield",
            law=law,
            readings=[
                Reading(setting="Q/N (%), 1 % wrong in one step", metric="load_at_1%_in_one_step", thesis=18.0),
                Reading(setting="Q/N (%), 10 % wrong when settled", metric="load_where_settling_loses_patterns"),
            ],
        )
    ]


HOPFIELD_CAPACITY = Experiment(
    name="hopfield-capacity",
    title="The capacity of a Hopfield network",
    thesis="§2.3.1",
    file="mnemon/experiments/hopfield_capacity.py",
    measurements=measurements,
    metric="load_at_1%_in_one_step",
    aggregate="a formula",
    shows="law",
)
