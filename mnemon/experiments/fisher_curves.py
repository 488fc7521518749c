"""How long noisy networks remember (thesis §2.3.2): the Fisher memory curve of four linear ones, and of tanh units.

Of a signal of power 1 and noise of power ε, normal networks hold 1/ε in all, however large they are. A delay line that
amplifies holds a share of N/ε.
"""

from mnemon.laws.fisher_curves import FisherCurves
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement

LINEAR = (
    FisherCurves(network="rotation"),
    FisherCurves(network="symmetric"),
    FisherCurves(network="random"),
    FisherCurves(network="delay line", power=1.0),
    FisherCurves(network="delay line", power=1.5),
)
SQUASHED = tuple(FisherCurves(squashed=True, noise=noise) for noise in (0.001, 0.01, 0.1))


def measurements() -> list[Measurement]:
    """Fifty linear units of each kind, and a rotation with tanh units under more and more noise."""
    return [
        Measurement(
            setting="tanh units" if law.squashed else "linear units",
            model=f"rotation, {law.name}" if law.squashed else law.name,
            law=law,
            readings=[
                Reading(setting=f"ε Σ J(k) of {law.ages} ages, simulated", metric="total_measured"),
                Reading(setting="ε Σ J(k) of all ages, linear units", metric="total"),
            ],
        )
        for law in (*LINEAR, *SQUASHED)
    ]


FISHER_CURVES = Experiment(
    name="fisher-curves",
    title="Fisher memory of recurrent networks",
    thesis="§2.3.2, “Memory trace of recurrent networks”",
    file="mnemon/experiments/fisher_curves.py",
    measurements=measurements,
    metric="total_measured",
    percent=False,
    aggregate="a formula",
    shows="law",
)
