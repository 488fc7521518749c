"""The noise of holographic memories with redundant copies (thesis §2.4.2): it depends on Q/S alone."""

from mnemon.laws.holographic_noise import HolographicNoise
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement


def measurements() -> list[Measurement]:
    """Three numbers of copies over the same loads."""
    return [
        Measurement(
            setting="Q/S",
            model="Redundant",
            law=HolographicNoise(),
            readings=[
                Reading(setting="noise, measured / formula (%)", metric="noise_by_formula"),
                Reading(setting="largest gap in wrong items (%)", metric="largest_gap_in_wrong_items"),
            ],
        )
    ]


HOLOGRAPHIC_NOISE = Experiment(
    name="holographic-noise",
    title="The noise of a redundant holographic memory",
    thesis="§2.4.2",
    file="mnemon/experiments/holographic_noise.py",
    measurements=measurements,
    metric="noise_by_formula",
    aggregate="a formula",
    shows="law",
)
