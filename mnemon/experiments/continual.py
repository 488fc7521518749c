"""Continual procedure learning (thesis §7.4.3, Figure 7.5): four tasks in turn, and after each all four are tested.

The thesis has feed-forward controllers, 20,000 batches of 16 for each task, and one program at a time (Gumbel-softmax);
sizes it does not give, so they are those of the four tasks in a sequence. It draws its values and prints none.
"""

import dataclasses

from mnemon.experiments import ntm_sequencing
from mnemon.experiments.ntm_tasks import TRAINING, training_of
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.catalogue import TASKS

STEPS_EACH = 20_000
ALL = "C+RC+AR+PS"

MODELS: dict[str, ModelConfig] = {
    "NTM": dataclasses.replace(ntm_sequencing.NTM[ALL], controller="feed-forward"),
    "NUTM (p=4)": dataclasses.replace(ntm_sequencing.NUTM[ALL], controller="feed-forward", program_choice="gumbel"),
}


def jobs() -> list[Job]:
    """Each model learns the four tasks; a row for each task after each."""
    entry = TASKS["continual"]
    learnt = list(entry.tests)
    training = dataclasses.replace(TRAINING, steps=STEPS_EACH * len(learnt), eval_every=STEPS_EACH)
    readings = [
        Reading(setting=f"after {last}: {tested}", test=tested, at=(number + 1) / len(learnt))
        for number, last in enumerate(learnt)
        for tested in learnt
    ]
    return [
        Job(
            setting="continual",
            model=name,
            task=entry.train,
            tests=entry.tests,
            test=entry.thesis_test,
            config=config,
            training=training_of(config, training),
            readings=readings,
        )
        for name, config in MODELS.items()
    ]


CONTINUAL = Experiment(
    name="continual",
    title="Continual procedure learning",
    thesis="§7.4.3, Figure 7.5, and appendix",
    file="mnemon/experiments/continual.py",
    jobs=jobs,
    metric="bit_accuracy",
    aggregate="bars without numbers",
)
