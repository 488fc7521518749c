"""NTM and NUTM on the tasks of Graves et al. (thesis §7.4.1, Table 7.1) and on sequences of these (§7.4.2).

Training is as the author's code has it: RMSProp 1e-4 with momentum 0.9, gradients clipped to ±10, 16 sequences a batch,
and for NUTM the loss of the keys with η = 0.1, multiplied by 0.9 at each step. The thesis does not say for how long;
20,000 batches are what it gives each task in §7.4.3. Single tasks depart from it, with the training that is best for an
NTM on copy (docs/cell.md): the author's one sequence a batch and a rate that does not fall leave errors beyond the
lengths of training that jump up and down to the last step.

The thesis prints bit errors, of soft answers in its code, of thresholded ones here. For n-grams its numbers can only be
cross-entropies in bits, and the least that any predictor can pay is a row beside them.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from mnemon.experiments import ntm_sequencing, ntm_single
from mnemon.models.catalogue import MODELS
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.tasks.catalogue import TASKS
from mnemon.training.config import TrainConfig

TRAINING = TrainConfig(
    steps=20_000,
    batch_size=16,
    optimiser="rmsprop",
    learning_rate=1e-4,
    clip_value=10.0,
    log_every=500,
    eval_every=2_000,
    eval_sequences=1_000,
    checkpoint_every=1_000,
)
SINGLE_TRAINING = dataclasses.replace(TRAINING, learning_rate=3e-4, anneal=0.8, clip_norm=1.0)
NGRAM_TRAINING = dataclasses.replace(SINGLE_TRAINING, eval_sequences=5_000)  # their bits vary more than models do

SINGLE: dict[str, str] = {  # the catalogue's name by the thesis's
    "Copy": "copy",
    "Repeat Copy": "repeat-copy",
    "A. Recall": "associative-recall",
    "D. N-grams": "ngrams",
    "Priority Sort": "priority-sort",
    "Long Copy": "long-copy",
}
THESIS: dict[str, dict[str, float]] = {
    "Copy": {"NTM": 0.00, "NUTM (p=2)": 0.00},
    "Repeat Copy": {"NTM": 405.10, "NUTM (p=2)": 366.69},
    "A. Recall": {"NTM": 7.66, "NUTM (p=2)": 1.35},
    "D. N-grams": {"NTM": 132.59, "NUTM (p=2)": 127.68},
    "Priority Sort": {"NTM": 24.41, "NUTM (p=2)": 20.00},
    "Long Copy": {"NTM": 16.04, "NUTM (p=2)": 0.02},
}
SEQUENCES: dict[str, str] = {
    "C+RC": "copy-and-repeat-copy",
    "C+AR": "copy-and-associative-recall",
    "C+PS": "copy-and-priority-sort",
    "C+RC+AR+PS": "four-in-sequence",
}
# By the catalogue's name of the task, of an NTM and of one with stored programs.
NTM_SIZES: dict[str, ModelConfig] = {
    **ntm_single.NTM,
    **{task: ntm_sequencing.NTM[setting] for setting, task in SEQUENCES.items()},
}
NUTM_SIZES: dict[str, ModelConfig] = {
    **ntm_single.NUTM,
    **{task: ntm_sequencing.NUTM[setting] for setting, task in SEQUENCES.items()},
}


def sizes_of(task: str, model: str) -> ModelConfig:
    """The thesis's sizes for a model of the catalogue; of tasks for which it has none, the defaults."""
    sizes = NUTM_SIZES if MODELS[model].has_programs else NTM_SIZES
    return dataclasses.replace(sizes.get(task, ModelConfig()), name=model)


def training_of(config: ModelConfig, training: TrainConfig) -> TrainConfig:
    """The same training, with the loss of the keys where there are programs."""
    if not MODELS[config.name].has_programs:
        return training
    return dataclasses.replace(training, auxiliary=0.1, auxiliary_decay=0.9)


def job(
    setting: str,
    name: str,
    task: str,
    config: ModelConfig,
    training: TrainConfig,
    *,
    parameters: int | None,
    thesis: float | None = None,
    readings: Sequence[Reading] = (),
) -> Job:
    """A model on a task of the catalogue."""
    entry = TASKS[task]
    return Job(
        setting=setting,
        model=name,
        task=entry.train,
        tests=entry.tests,
        test=entry.thesis_test,
        config=config,
        training=training_of(config, training),
        thesis=thesis,
        thesis_parameters=parameters,
        trace=True,
        readings=readings,
    )


def ngram_readings(setting: str, thesis: float) -> list[Reading]:
    """The bits that a sequence costs, those it costs the best predictor, and how many are too many."""
    return [
        Reading(setting=f"{setting}, bits", thesis=thesis, metric="cross_entropy_bits"),
        Reading(setting=f"{setting}, fewest bits possible", metric="floor_bits"),
        Reading(setting=f"{setting}, bits above the fewest", metric="excess_bits"),
        Reading(setting=f"{setting} as long as trained, bits above the fewest", metric="excess_bits", test="length 50"),
    ]


def single_jobs() -> list[Job]:
    """Both models on the six tasks."""
    found = []
    for setting, task in SINGLE.items():
        models: Mapping[str, tuple[ModelConfig, int]] = {
            "NTM": (ntm_single.NTM[task], ntm_single.NTM_PARAMETERS[task]),
            "NUTM (p=2)": (ntm_single.NUTM[task], ntm_single.NUTM_PARAMETERS[task]),
        }
        for name, (config, parameters) in models.items():
            thesis = THESIS[setting][name]
            is_ngrams = task == "ngrams"
            found.append(
                job(
                    setting,
                    name,
                    task,
                    config,
                    NGRAM_TRAINING if is_ngrams else SINGLE_TRAINING,
                    parameters=parameters,
                    thesis=thesis,
                    readings=ngram_readings(setting, thesis) if is_ngrams else (),
                )
            )
    return found


def job_with_one_program() -> Job:
    """Beyond the thesis: an NTM, but that its heads begin as small as a NUTM's programs."""
    setting = "A. Recall"
    task = SINGLE[setting]
    config = dataclasses.replace(ntm_single.NTM[task], name="nutm", programs=1, program_key=1)
    return job(setting, "NUTM (p=1)", task, config, SINGLE_TRAINING, parameters=None)


def job_with_longer_ngrams() -> Job:
    """Beyond the thesis: the NUTM on n-grams, but trained with sequences as long as the test's."""
    (printed,) = (one for one in single_jobs() if (one.setting, one.model) == ("D. N-grams", "NUTM (p=2)"))
    setting = "D. N-grams trained with 200 bits"
    return dataclasses.replace(
        printed,
        setting=setting,
        task=printed.tests[printed.test],
        tests={printed.test: printed.tests[printed.test]},
        thesis=None,
        readings=[Reading(setting=f"{setting}, bits above the fewest", metric="excess_bits")],
    )


def sequencing_jobs() -> list[Job]:
    """Both models on the four sequences, of which the thesis draws learning curves only."""
    found = []
    for setting, task in SEQUENCES.items():
        nutm = ntm_sequencing.NUTM[setting]
        models: Mapping[str, tuple[ModelConfig, int]] = {
            "NTM": (ntm_sequencing.NTM[setting], ntm_sequencing.NTM_PARAMETERS[setting]),
            f"NUTM (p={nutm.programs})": (nutm, ntm_sequencing.NUTM_PARAMETERS[setting]),
        }
        found += [
            job(setting, name, task, config, TRAINING, parameters=parameters)
            for name, (config, parameters) in models.items()
        ]
    return found


NTM_SINGLE = Experiment(
    name="ntm-single",
    title="NTM single tasks",
    thesis="§7.4.1, Table 7.1, and appendix",
    file="mnemon/experiments/ntm_tasks.py",
    jobs=lambda: [*single_jobs(), job_with_one_program(), job_with_longer_ngrams()],
    metric="bit_errors",
    percent=False,
    better="lower",
    aggregate="best of 5 runs",
)

NTM_SEQUENCING = Experiment(
    name="ntm-sequencing",
    title="NTM sequencing tasks",
    thesis="§7.4.2, Figure 7.4, and appendix",
    file="mnemon/experiments/ntm_tasks.py",
    jobs=sequencing_jobs,
    metric="bit_errors",
    percent=False,
    better="lower",
    aggregate="learning curves without numbers",
)
