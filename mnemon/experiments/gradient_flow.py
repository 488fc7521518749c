"""Vanishing and exploding errors (thesis §2.4.1): tanh networks beside Hochreiter's bound, and LSTMs.

The bound holds everywhere and is loose: with random weights errors vanish where it explodes.
"""

from mnemon.laws.gradient_flow import GradientFlow, Network
from mnemon.runner.job import Experiment, Reading
from mnemon.runner.measurement import Measurement

RADII = (0.5, 0.9, 1.0, 1.25)
FORGET_BIASES = (0.0, 1.0, 3.0, 5.0)
MODELS: dict[Network, str] = {"rotation": "tanh, rotation", "random": "tanh, random", "lstm": "LSTM"}


def measurements() -> list[Measurement]:
    """Two kinds of recurrent weights at four radii, and LSTMs that forget more or less."""
    laws = [GradientFlow(network=network, radius=radius) for network in ("rotation", "random") for radius in RADII]
    laws += [GradientFlow(network="lstm", forget_bias=bias) for bias in FORGET_BIASES]
    return [
        Measurement(
            setting=law.name,
            model=MODELS[law.network],
            law=law,
            readings=[
                Reading(setting=f"{law.name}, factor a step", metric="factor_per_step"),
                Reading(
                    setting=f"{law.name}, {'carousel' if law.network == 'lstm' else 'bound'}", metric="formula_per_step"
                ),
            ],
        )
        for law in laws
    ]


GRADIENT_FLOW = Experiment(
    name="gradient-flow",
    title="Back-flow of error",
    thesis="§2.4.1, “Hochreiter's analysis on gradient vanishing/exploding problems”",
    file="mnemon/experiments/gradient_flow.py",
    measurements=measurements,
    metric="factor_per_step",
    percent=False,
    aggregate="a formula",
    shows="law",
)
