"""Uniform writing against regular writing (thesis §6.5.1, Figure 6.2): the double task with few and many slots.

The thesis draws its values as bars and prints none. It tunes the learning rate over 0.001 and 0.0001 and the clipping
over 1, 5 and 10; here they are 0.001 and 1.
"""

from typing import Literal

from mnemon.experiments.optimal_writing import Model, jobs_of_setting
from mnemon.runner.job import Experiment, Job
from mnemon.tasks.tokens import Double

CONTROLLERS: dict[str, tuple[str, int, tuple[int, ...]]] = {  # by the thesis's name: ours, length, slots
    "LSTM": ("lstm", 50, (2, 4, 9, 24)),
    "RNN": ("elman", 30, (2, 4, 9, 14)),
}
BASES: dict[str, Literal["ntm", "dnc"]] = {"NTM": "ntm", "DNC": "dnc"}


def models(controller: str) -> list[Model]:
    """NTM and DNC with a controller, each without and with uniform writing."""
    return [
        model
        for name, base in (BASES.items())
        for model in (
            Model(name=name, base=base, controller=controller),
            Model(name=f"{name}+UW", base=base, controller=controller, writing="uniform"),
        )
    ]


def jobs() -> list[Job]:
    """All slots with both controllers."""
    return [
        job
        for name, (controller, length, sizes) in CONTROLLERS.items()
        for slots in sizes
        for job in jobs_of_setting(
            f"{name} L={length} D={slots}",
            Double(length=length),
            models(controller),
            slots=slots,
            length=length + 1,
        )
    ]


UW_ABLATION = Experiment(
    name="uw-ablation",
    title="Uniform writing against regular writing: the double task",
    thesis="§6.5.1, Figure 6.2",
    file="mnemon/experiments/uw_ablation.py",
    jobs=jobs,
    aggregate="mean of 5 runs, drawn as bars without numbers",
)
