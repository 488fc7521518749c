"""In which order a hierarchy is learned (thesis §2.2.2): gradient descent beside Saxe's closed form.

A binary tree with eight leaves, from small random weights and from balanced ones, for which the closed form is exact.
"""

from typing import get_args

from mnemon.laws.semantic_stages import SemanticStages, Start
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement


def measurements() -> list[Measurement]:
    """Both ways to begin."""
    return [_measurement(SemanticStages(start=start)) for start in get_args(Start)]


def _measurement(law: SemanticStages) -> Measurement:
    stages = [
        Reading(setting=f"level {level} half learned, t/τ{ending}", metric=f"level_{level}_{metric}")
        for level in range(1, law.levels + 1)
        for ending, metric in (("", "learned"), (", closed form", "predicted"))
    ]
    gap = Reading(setting="largest gap in a(t) to the closed form", metric="largest_gap")
    return Measurement(
        setting=f"tree of {law.levels} levels", model=f"{law.start} start", law=law, readings=[*stages, gap]
    )


SEMANTIC_STAGES = Experiment(
    name="semantic-stages",
    title="Stages of learning a hierarchy",
    thesis="§2.2.2, “Semantic Memory in Neural Networks”",
    file="mnemon/experiments/semantic_stages.py",
    measurements=measurements,
    metric="largest_gap",
    percent=False,
    better="lower",
    aggregate="a formula",
    shows="law",
)
