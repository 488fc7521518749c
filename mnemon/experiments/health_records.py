"""Health records (thesis §4.5.2, §4.5.4, §4.5.5): treatments, drugs, and what comes next.

The thesis's records, full MIMIC-III and those of an Australian hospital, may not be passed on. Without them the tables
are made from open stand-ins (mnemon/ehr/catalogue.py), and their values cannot be compared with the thesis's, only the
order of the models; with ``--data`` and the folder of full MIMIC-III the same commands use it. A test counts where the
loss of the validation patients was lowest. "Most frequent" is not in the thesis: the same answer for everyone, by how
frequent each code is.
"""

from mnemon.ehr.baselines import ClassicalConfig
from mnemon.ehr.runs import sizes_for
from mnemon.models.config import ModelConfig
from mnemon.runner.job import Experiment, Job, Reading
from mnemon.runner.sources import DataTask
from mnemon.training.config import TrainConfig

FILE = "mnemon/experiments/health_records.py"
TRAINING = TrainConfig(
    steps=3_000,
    batch_size=64,
    optimiser="adam",
    learning_rate=1e-3,
    clip_value=10.0,
    log_every=50,
    eval_every=50,
    patience=10,
    checkpoint_every=50,
)

LOGISTIC_REGRESSION = ClassicalConfig(classifier="logistic-regression")
RANDOM_FOREST = ClassicalConfig(classifier="random-forest")
JOINT_FOREST = ClassicalConfig(classifier="random-forest", strategy="joint")
SVM = ClassicalConfig(classifier="svm")
FREQUENCY = ClassicalConfig(classifier="frequency")
CHAINED_FOREST = ClassicalConfig(classifier="random-forest", strategy="classifier-chain")


def job(
    task: str,
    setting: str,
    name: str,
    config: ModelConfig | ClassicalConfig,
    values: dict[str, float | None],
    *,
    percent: bool,
    trace: bool = False,
) -> Job:
    """A model on a task; a reading for each metric."""
    return Job(
        setting=f"{task}, {setting}",
        model=name,
        task=DataTask(name=task),
        tests={},
        test="test",
        config=config if isinstance(config, ModelConfig) else ModelConfig(),
        classical=config if isinstance(config, ClassicalConfig) else None,
        training=TRAINING,
        trace=trace,
        readings=[
            Reading(
                setting=f"{setting}, {metric.replace('_', ' ')}",
                thesis=value,
                test="test",
                metric=metric,
                percent=percent,
                chosen_by="validation",
            )
            for metric, value in values.items()
        ],
    )


TREATMENT_METRICS = ("precision", "jaccard")
TREATMENTS: dict[str, tuple[ModelConfig | ClassicalConfig, dict[str, tuple[float, float] | None]]] = {
    "Most frequent": (FREQUENCY, {"procedures": None, "drugs-daily": None}),
    "Logistic Regression": (LOGISTIC_REGRESSION, {"procedures": (0.256, 0.185), "drugs-daily": (0.412, 0.311)}),
    "Random Forest": (JOINT_FOREST, {"procedures": (0.276, 0.199), "drugs-daily": (0.491, 0.405)}),
    "Seq2Seq": (sizes_for("sequence", "seq2seq"), {"procedures": (0.263, 0.196), "drugs-daily": (0.220, 0.138)}),
    "Seq2Seq with attention": (
        sizes_for("sequence", "seq2seq-attention"),
        {"procedures": (0.272, 0.204), "drugs-daily": (0.224, 0.142)},
    ),
    "DNC": (sizes_for("sequence", "dnc-single"), {"procedures": (0.285, 0.214), "drugs-daily": (0.577, 0.529)}),
    "DCw-MANN": (sizes_for("sequence", "dcw-mann"), {"procedures": (0.292, 0.221), "drugs-daily": (0.598, 0.556)}),
}


def treatment_jobs() -> list[Job]:
    """Procedures and drugs as sequences."""
    return [
        job(task, task, name, config, _by_metric(TREATMENT_METRICS, thesis[task]), percent=False)
        for task in ("procedures", "drugs-daily")
        for name, (config, thesis) in TREATMENTS.items()
    ]


DRUG_METRICS = ("auc_macro", "f1_macro", "p@1", "p@2", "p@5")
LSTM, DNC = sizes_for("set", "seq2seq-concatenated"), sizes_for("set", "dnc-single", views=2)
ONE_VIEW: dict[str, dict[str, tuple[float, ...]]] = {
    "diagnosis": {
        "Binary Relevance": (82.6, 69.1, 79.9, 77.1, 70.3),
        "Classifier Chains": (66.8, 63.8, 68.3, 66.8, 61.1),
        "LSTM": (84.9, 70.9, 90.8, 86.7, 79.1),
        "DNC": (85.4, 71.4, 90.0, 86.7, 79.8),
    },
    "procedure": {
        "Binary Relevance": (81.8, 69.4, 82.6, 80.1, 73.6),
        "Classifier Chains": (63.4, 61.7, 83.7, 80.3, 71.9),
        "LSTM": (83.9, 70.8, 88.1, 86.0, 78.4),
        "DNC": (83.2, 70.4, 88.4, 85.8, 78.7),
    },
}
BOTH_VIEWS: dict[str, tuple[float, ...] | None] = {
    "Most frequent": None,
    "Binary Relevance": (84.1, 70.3, 81.0, 78.2, 72.3),
    "Binary Relevance, SVM": None,
    "Binary Relevance, Random Forest": None,
    "Classifier Chains": (64.6, 63.0, 84.6, 81.5, 74.2),
    "LSTM": (85.8, 72.1, 91.6, 86.8, 80.5),
    "DNC": (86.4, 72.4, 90.9, 87.4, 80.6),
    "Dual LSTM": (85.4, 71.4, 90.6, 87.1, 80.5),
    "WLAS": (86.6, 72.5, 91.9, 88.1, 80.9),
    "DMNC_l": (87.4, 73.2, 92.4, 88.9, 82.6),
    "DMNC_e": (87.6, 73.4, 92.1, 89.9, 82.5),
}
# The thesis reports the best classifier for each strategy: logistic regression, and random forests in a chain.
DRUG_MODELS: dict[str, ModelConfig | ClassicalConfig] = {
    "Most frequent": FREQUENCY,
    "Binary Relevance": LOGISTIC_REGRESSION,
    "Binary Relevance, SVM": SVM,
    "Binary Relevance, Random Forest": RANDOM_FOREST,
    "Classifier Chains": CHAINED_FOREST,
    "LSTM": LSTM,
    "DNC": DNC,
    "Dual LSTM": sizes_for("set", "seq2seq"),
    "WLAS": sizes_for("set", "seq2seq-attention"),
    "DMNC_l": sizes_for("set", "dmnc-late"),
    "DMNC_e": sizes_for("set", "dmnc-early"),
}
DUAL_MEMORIES = ("DMNC_l", "DMNC_e")


def drug_jobs() -> list[Job]:
    """Drugs as a set, from one view or both. AUC and F1 are over labels, as the text says; the program has others.

    Dual memories leave a trace, for the figures of write gates.
    """
    settings: dict[str, tuple[str, dict[str, tuple[float, ...] | None]]] = {
        "diagnosis only": ("drugs-set-diagnosis", dict(ONE_VIEW["diagnosis"])),
        "procedure only": ("drugs-set-procedure", dict(ONE_VIEW["procedure"])),
        "both": ("drugs-set", BOTH_VIEWS),
    }
    return [
        job(
            task,
            setting,
            name,
            DRUG_MODELS[name],
            _by_metric(DRUG_METRICS, values),
            percent=True,
            trace=name in DUAL_MEMORIES,
        )
        for setting, (task, models) in settings.items()
        for name, values in models.items()
    ]


PROGRESSION_METRICS = ("p@1", "p@2", "p@3")
PROGRESSION: dict[str, tuple[ModelConfig | ClassicalConfig, tuple[float, ...] | None]] = {
    "Most frequent": (FREQUENCY, None),
    "DeepCare": (sizes_for("next", "deepcare"), (66.2, 59.6, 53.7)),
    "WLAS": (sizes_for("next", "seq2seq-attention"), (65.9, 60.8, 56.5)),
    "DMNC_l": (sizes_for("next", "dmnc-late"), (66.5, 61.3, 57.0)),
    "DMNC_e": (sizes_for("next", "dmnc-early"), (67.6, 61.2, 56.9)),
}


def progression_jobs() -> list[Job]:
    """The next diagnoses; the thesis's values are those of its diabetes cohort."""
    return [
        job("next-diagnoses", "next diagnoses", name, config, _by_metric(PROGRESSION_METRICS, values), percent=True)
        for name, (config, values) in PROGRESSION.items()
    ]


def _by_metric(names: tuple[str, ...], values: tuple[float, ...] | None) -> dict[str, float | None]:
    return dict(zip(names, values or (None,) * len(names), strict=True))


TREATMENT = Experiment(
    name="treatment",
    title="Treatment recommendation",
    thesis="§4.5.2, Table 4.3",
    file=FILE,
    jobs=treatment_jobs,
    metric="precision",
    percent=False,
    aggregate="one value a row; on full MIMIC-III, which only --data brings",
)

DRUG_PRESCRIPTION = Experiment(
    name="drug-prescription",
    title="Drug prescription",
    thesis="§4.5.4, Table 4.6",
    file=FILE,
    jobs=drug_jobs,
    metric="p@1",
    aggregate="one value a row; on full MIMIC-III, which only --data brings",
)

DISEASE_PROGRESSION = Experiment(
    name="disease-progression",
    title="Disease progression",
    thesis="§4.5.5, Table 4.8",
    file=FILE,
    jobs=progression_jobs,
    metric="p@1",
    aggregate="one value a row; on records that are not public",
)
