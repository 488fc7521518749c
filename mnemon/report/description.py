"""``experiment.json``: what a folder of runs is an experiment of. The runner writes it, the report reads it.

experiment.json                         this description
jobs/SETTING/MODEL/seed-N/              the folder of a run (:mod:`mnemon.training.directory`)
learning-rates.json                     the rates that a search chose, where it was asked (:mod:`mnemon.runner.rates`)
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mnemon.errors import UserError
from mnemon.training.files import read_json, write_json

NAME = "experiment.json"
RATES = "learning-rates.json"
FORMAT = "mnemon experiment"
VERSION = 1

Better = Literal["higher", "lower"]
# Of a trace: what was done in a sequence, where the controller's states or the latent variables lie, what was said,
# or nothing; or a law beside its formula.
Shown = Literal["memory", "states", "latents", "samples", "nothing", "law"]


@dataclass(frozen=True, kw_only=True)
class RowDescription:
    """One row of the table: a model in a setting, and what the thesis says of it."""

    setting: str
    model: str
    folder: str | None  # of its runs, under jobs/; None: a value from the literature, which is not run
    test: str | None  # the held-out set that counts
    thesis: float | None
    thesis_parameters: int | None
    metric: str | None = None  # None: the experiment's
    percent: bool | None = None  # None: as the experiment's
    at: float | None = None  # the share of the steps after which it was measured; None: at the end
    traced: bool = False  # a measure of the trace rather than of a test
    chosen_by: str | None = None  # the test whose lowest loss says after which step it was measured


@dataclass(frozen=True, kw_only=True)
class Description:
    """An experiment, as far as a reader of its results needs it."""

    experiment: str
    title: str
    thesis: str  # where the thesis has it
    metric: str
    percent: bool  # the table shows a hundred times the metric
    better: Better
    aggregate: str  # how the thesis came to its values
    scale: float
    rows: list[RowDescription]
    shows: Shown = "memory"

    def write(self, folder: Path) -> None:
        """Write it into the folder of the experiment."""
        write_json(folder / NAME, {"format": FORMAT, "version": VERSION, **dataclasses.asdict(self)})

    @property
    def metric_label(self) -> str:
        """The metric in words, with its unit."""
        return _in_words(self.metric, self.percent)

    @property
    def prints_best(self) -> bool:
        """Whether the thesis prints the best of several runs."""
        return self.aggregate.startswith("best of")

    def shown(self, value: float | None) -> float | None:
        """A value of the metric as the table shows it."""
        return 100 * value if value is not None and self.percent else value

    def metric_of(self, row: RowDescription) -> str:
        """The row's own metric, or the experiment's."""
        return self.metric if row.metric is None else row.metric

    def label_of(self, row: RowDescription) -> str:
        """The row's metric in words, with its unit."""
        return _in_words(self.metric_of(row), self.factor_of(row) != 1)

    def factor_of(self, row: RowDescription) -> float:
        """What the table multiplies the row's metric with."""
        return 100.0 if (self.percent if row.percent is None else row.percent) else 1.0


def _in_words(metric: str, percent: bool) -> str:
    words = metric.replace("_", " ")
    return f"{words} (%)" if percent else words


def read_description(folder: Path) -> Description:
    """The description in a folder, refusing whatever is none."""
    path = folder / NAME
    document = read_json(path)
    if document.pop("format", None) != FORMAT:
        raise UserError(f"{path} does not describe a mnemon experiment")
    if (version := document.pop("version", None)) != VERSION:
        raise UserError(f"{path} has version {version}; this mnemon reads version {VERSION}")
    try:
        rows = [RowDescription(**row) for row in document.pop("rows")]
        return Description(rows=rows, **document)
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged: {error}") from error


def run_folders(folder: Path, row: RowDescription) -> dict[int, Path]:
    """The folders of a row's runs by seed, finished or not."""
    if row.folder is None:
        return {}
    found: dict[int, Path] = {}
    for path in (folder / "jobs" / row.folder).glob("seed-*"):
        seed = path.name.removeprefix("seed-")
        if seed.isdecimal():
            found[int(seed)] = path
    return dict(sorted(found.items()))
