"""Noisy cues against the radius of a sparse distributed memory (thesis §2.4.4)."""

from mnemon.laws.sdm_recall import SdmRecall
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement


def measurements() -> list[Measurement]:
    """One memory; its best radius is read where cues have the middle number of flipped bits."""
    law = SdmRecall()
    flips = law.flips[len(law.flips) // 2]
    return [
        Measurement(
            setting=f"{law.bits} bits",
            model="SDM",
            law=law,
            readings=[
                Reading(setting="largest gap to the formula (%)", metric="largest_gap"),
                Reading(setting=f"best radius, {flips} bits flipped", metric="best_radius", percent=False),
                Reading(setting="the same by the formula", metric="best_radius_by_formula", percent=False),
            ],
        )
    ]


SDM_RECALL = Experiment(
    name="sdm-recall",
    title="Recall of a sparse distributed memory from noisy cues",
    thesis="§2.4.4",
    file="mnemon/experiments/sdm_recall.py",
    measurements=measurements,
    metric="largest_gap",
    better="lower",
    aggregate="a formula",
    shows="law",
)
