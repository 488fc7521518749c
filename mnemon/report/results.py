"""What the runs of an experiment came to, row by row."""

import json
import statistics
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemon.errors import UserError
from mnemon.report.description import NAME, RATES, Description, RowDescription, read_description, run_folders
from mnemon.report.remarks import read_remarks
from mnemon.training.directory import RunDirectory
from mnemon.training.files import read_json
from mnemon.training.record import json_number, read_records


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run."""

    seed: int
    folder: Path
    experiment: str  # that it was trained for
    value: float | None  # the metric as the table shows it; None: it was not finite
    effective: int  # parameters that get a gradient
    total: int
    seconds: float | None  # None: not known, as for a run that was killed between its end and its summary
    provenance: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A model in a setting, over its seeds."""

    described: RowDescription
    runs: list[Run]
    better: str

    @property
    def values(self) -> list[float]:
        """What the seeds came to, as far as it is a number."""
        return [run.value for run in self.runs if run.value is not None]

    @property
    def mean(self) -> float | None:
        """Over the seeds."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        """Of the sample, so that one seed has none."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def best(self) -> float | None:
        """The best seed, which is what some tables of the thesis print."""
        return (max if self.better == "higher" else min)(self.values, default=None)

    @property
    def seconds(self) -> float | None:
        """Mean wall time of a run."""
        known = [run.seconds for run in self.runs if run.seconds is not None]
        return statistics.fmean(known) if known else None


@dataclass(frozen=True, kw_only=True)
class Results:
    """An experiment and the rows of its table."""

    folder: Path
    description: Description
    rows: list[Row]
    remarks: tuple[str, ...]  # what did not come out as expected, and why: paragraphs

    @property
    def seeds(self) -> list[int]:
        """All seeds that any row has."""
        return sorted({run.seed for row in self.rows for run in row.runs})

    @property
    def command(self) -> list[str]:
        """How to repeat all of it; each run's own summary has the command that it came from."""
        described = self.description
        count = max(self.seeds, default=0) + 1
        command = ["mnemon", "run", described.experiment, "--seeds", str(count), "--scale", f"{described.scale:g}"]
        rates = self.folder / RATES
        return [*command, "--rates", str(rates)] if rates.exists() else command

    @property
    def taken_over(self) -> dict[str, int]:
        """How many runs were trained for each other experiment; a run may fill several rows."""
        trained_for = {run.folder: run.experiment for row in self.rows for run in row.runs}
        others = Counter(trained_for.values())
        del others[self.description.experiment]
        return dict(sorted(others.items()))

    @property
    def machines(self) -> list[dict[str, Any]]:
        """The versions and the hardware of the runs, each once."""
        each = (run.provenance for row in self.rows for run in row.runs)
        return _unique([{name: fact for name, fact in facts.items() if name != "revision"} for facts in each])

    @property
    def revisions(self) -> list[str]:
        """The commits that the runs were made from, in order of their rows, where the records tell."""
        found = (run.provenance.get("revision") for row in self.rows for run in row.runs)
        return [revision for revision in dict.fromkeys(found) if revision is not None]


def read_results(folder: Path) -> Results:
    """All finished runs in the folder of an experiment."""
    description = read_description(folder)
    rows = [
        Row(described=row, runs=_finished_runs(folder, description, row), better=description.better)
        for row in description.rows
    ]
    return Results(folder=folder, description=description, rows=rows, remarks=read_remarks(folder))


def find_experiments(folder: Path) -> list[Path]:
    """The folder itself, or the folders below it, that hold an experiment."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}: give one that mnemon run has written")
    found = sorted(path.parent for path in folder.rglob(NAME))
    if not found:
        raise UserError(f"{folder} holds no experiment: give a folder that mnemon run has written")
    return found


def first_value(folder: Path, description: Description) -> tuple[str, float | None, dict[str, Any]]:
    """What a finished run puts into the first of its rows: the metric in words, its value, and the run's summary."""
    summary = read_json(RunDirectory(folder).summary)
    place = folder.parent.as_posix()
    row = next(row for row in description.rows if row.folder is not None and place.endswith(f"/jobs/{row.folder}"))
    value = _measured(folder, summary, row, description.metric_of(row))
    return description.label_of(row), None if value is None else description.factor_of(row) * value, summary


def _finished_runs(folder: Path, description: Description, row: RowDescription) -> list[Run]:
    return [
        _read_run(description, row, seed, path)
        for seed, path in run_folders(folder, row).items()
        if RunDirectory(path).summary.exists()
    ]


def _read_run(description: Description, row: RowDescription, seed: int, folder: Path) -> Run:
    path = RunDirectory(folder).summary
    summary = read_json(path)
    try:
        counts = summary["config"]["run"]["parameters"]
        speed = summary["steps_per_second"]
        value = _measured(folder, summary, row, description.metric_of(row))
        return Run(
            seed=seed,
            folder=folder,
            experiment=summary["config"]["run"]["experiment"],
            value=None if value is None else description.factor_of(row) * value,
            effective=counts["effective"],
            total=counts["total"],
            seconds=summary["steps"] / speed if speed else None,  # the last sitting's pace over all steps
            provenance=summary["provenance"],
        )
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} is not the summary of a run of {description.experiment}: no {error}") from error


def _measured(folder: Path, summary: dict[str, Any], row: RowDescription, metric: str) -> float | None:
    """The metric at the end, after a share of the steps, or where another test says; None: not finite, not measured."""
    if row.traced:
        return _measured_in_trace(RunDirectory(folder).traces, metric)
    if row.at is None and row.chosen_by is None:
        return summary["metrics"][row.test][metric]  # type: ignore[no-any-return]  # JSON
    records = read_records(RunDirectory(folder).records)
    if row.chosen_by is not None:
        watched = [record for record in records if record.kind == "eval" and record.test == row.chosen_by]
        step = min(watched, key=lambda record: record.loss).step
    else:
        assert row.at is not None
        step = round(row.at * summary["config"]["training"]["steps"])
    for record in records:
        if record.kind == "eval" and (record.test, record.step) == (row.test, step):
            return json_number(record.metrics[metric])
    return None


def _measured_in_trace(path: Path, metric: str) -> float | None:
    measures = read_json(path).get("measures")
    if not isinstance(measures, dict) or metric not in measures:
        raise UserError(f"{path} has no {metric}: move its run away, and run the experiment again with --resume")
    return measures[metric]  # type: ignore[no-any-return]  # JSON


def _unique(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_text = {json.dumps(document, sort_keys=True): document for document in documents}
    return list(by_text.values())
