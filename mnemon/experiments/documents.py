"""Document classification (thesis §6.5.6, Table 6.4): six sets of documents, words as GloVe vectors.

The thesis gives controller, cache, RMSProp with its rate, and stopping after 5 epochs without improvement; batch,
longest training, word and clipping are ours. Documents differ in length, so uniform writing has a fixed interval and
no end. Slots are such that 15% of an average document's steps are written, where the thesis says 10-20%. Regular
writing, of which the thesis has no row, is beside them.
"""

import dataclasses
from typing import NamedTuple

from mnemon.experiments.optimal_writing import CUW, DNC, UW, jobs_of_setting
from mnemon.runner.job import Experiment, Job, Literature
from mnemon.runner.sources import DataTask
from mnemon.training.config import TrainConfig

BATCH = 64
LONGEST_TRAINING = 30  # epochs
COMPRESSION = 0.15
MODELS = tuple(
    dataclasses.replace(model, controller="lstm", hidden=512, cache=10, parameters=None) for model in (DNC, UW, CUW)
)


class DocumentSet(NamedTuple):
    """A set, from the appendix's table of statistics."""

    task: str
    average_length: int
    training_documents: int

    @property
    def slots(self) -> int:
        """D, where D + 1 writes are the wanted share of the steps."""
        return round(COMPRESSION * self.average_length) - 1


SETTINGS: dict[str, DocumentSet] = {
    "AG": DocumentSet("ag-news", 44, 120_000),
    "IMDb": DocumentSet("imdb", 282, 25_000),
    "Yelp P.": DocumentSet("yelp-polarity", 156, 560_000),
    "Yelp F.": DocumentSet("yelp-full", 158, 650_000),
    "DBP": DocumentSet("dbpedia", 55, 560_000),
    "Yah. A.": DocumentSet("yahoo-answers", 112, 1_400_000),
}

THESIS: dict[str, dict[str, float]] = {
    "AG": {"DNC+UW": 93.7, "DNC+CUW": 93.9},
    "IMDb": {"DNC+UW": 91.4, "DNC+CUW": 91.3},
    "Yelp P.": {"DNC+UW": 96.4, "DNC+CUW": 96.4},
    "Yelp F.": {"DNC+UW": 65.3, "DNC+CUW": 65.6},
    "DBP": {"DNC+UW": 99.0, "DNC+CUW": 99.0},
    "Yah. A.": {"DNC+UW": 74.2, "DNC+CUW": 74.3},
}

# The appendix's records of three runs; Table 6.4 has the best of them.
THESIS_RUNS: dict[str, dict[str, tuple[float, float, float]]] = {
    "AG": {"DNC+UW": (93.42, 93.52, 93.69), "DNC+CUW": (93.61, 93.87, 93.70)},
    "IMDb": {"DNC+UW": (91.39, 91.30, 91.25), "DNC+CUW": (91.26, 91.18, 91.32)},
    "Yelp P.": {"DNC+UW": (96.39, 96.31, 96.39), "DNC+CUW": (96.42, 96.29, 96.36)},
    "Yelp F.": {"DNC+UW": (64.89, 64.97, 65.26), "DNC+CUW": (65.63, 65.05, 64.80)},
}

LITERATURE: dict[str, dict[str, float]] = {
    "AG": {"VDCNN": 91.3, "Standard LSTM": 93.5, "Skim-LSTM": 93.6, "Region Embedding": 92.8},
    "IMDb": {"Standard LSTM": 91.1, "Skim-LSTM": 91.2},
    "Yelp P.": {"VDCNN": 95.7, "D-LSTM": 92.6, "Region Embedding": 96.4},
    "Yelp F.": {"VDCNN": 64.7, "D-LSTM": 59.6, "Region Embedding": 64.9},
    "DBP": {"VDCNN": 98.7, "D-LSTM": 98.7, "Region Embedding": 98.9},
    "Yah. A.": {"VDCNN": 73.4, "D-LSTM": 73.7, "Region Embedding": 73.7},
}


def training(documents: DocumentSet) -> TrainConfig:
    """Up to 30 epochs, fewer where the validation set finds nothing better for 5."""
    epoch = max(1, documents.training_documents // BATCH)
    return TrainConfig(
        steps=LONGEST_TRAINING * epoch,
        batch_size=BATCH,
        optimiser="rmsprop",
        learning_rate=1e-4,
        rmsprop_alpha=0.9,
        rmsprop_momentum=0.0,
        clip_value=None,
        clip_each=10.0,
        log_every=min(epoch, 500),
        eval_every=epoch,
        patience=5,
        checkpoint_every=500,
    )


def jobs() -> list[Job]:
    """Each set by itself; a set whose files are not there fails alone."""
    return [
        job
        for setting, documents in SETTINGS.items()
        for job in jobs_of_setting(
            setting,
            DataTask(name=documents.task),
            MODELS,
            slots=documents.slots,
            length=documents.average_length,
            thesis=THESIS[setting],
            training=training(documents),
        )
    ]


DOCUMENTS = Experiment(
    name="documents",
    title="Document classification",
    thesis="§6.5.6, Table 6.4, and appendix",
    file="mnemon/experiments/documents.py",
    jobs=jobs,
    aggregate="best of 3 runs",
    literature=[
        Literature(setting=setting, model=model, thesis=value)
        for setting, values in LITERATURE.items()
        for model, value in values.items()
    ],
)
