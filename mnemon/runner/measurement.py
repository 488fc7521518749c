"""A job that measures a law instead of training a model."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemon.laws.base import Law
from mnemon.report.description import RowDescription
from mnemon.runner.job import Job, Reading, job_folder, rows_of
from mnemon.runner.sources import law_from_json, law_to_json
from mnemon.training.directory import RunDirectory

TEST = "law"  # in place of a held-out set


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What to measure, and which of its numbers are rows of the table."""

    setting: str
    model: str  # the memory whose law it is
    law: Law
    readings: Sequence[Reading]  # each with a metric of the law
    seed: int = 0

    @property
    def folder(self) -> str:
        """Where its runs are, under jobs/."""
        return job_folder(self.setting, self.model)

    @property
    def needs_data(self) -> bool:
        """No law does."""
        return False

    def for_run(self, seed: int, scale: float) -> "Measurement":
        """The same law with a seed, and measured with less."""
        return dataclasses.replace(self, seed=seed, law=self.law.shortened(scale))

    def is_finished(self, directory: RunDirectory) -> bool:
        """Whether its curves and its numbers are there."""
        return directory.summary.exists() and directory.law.exists()

    def rows(self) -> list[RowDescription]:
        """The rows of the table that it fills."""
        return rows_of(self.readings, model=self.model, folder=self.folder, test=TEST, thesis_parameters=None)

    def to_json(self) -> dict[str, Any]:
        """All that decides what a run does."""
        return {
            "setting": self.setting,
            "model": self.model,
            "law": law_to_json(self.law),
            "test": TEST,
            "seed": self.seed,
        }


def work_from_json(document: Mapping[str, Any]) -> Job | Measurement:
    """The inverse of ``to_json``, without what the thesis says: a measurement where there is a law, else a job."""
    if "law" not in document:
        return Job.from_json(document)
    return Measurement(
        setting=document["setting"],
        model=document["model"],
        law=law_from_json(document["law"]),
        readings=(),
        seed=document["seed"],
    )
