"""Learning curves: the metric on the way, its mean and spread over the seeds of a row."""

import statistics
from typing import NamedTuple

from mnemon.report.results import Results, Row
from mnemon.training.directory import RunDirectory
from mnemon.training.record import Record, read_records

FEWEST_TESTS = 3  # with fewer points the measurements on training batches say more


class Curve(NamedTuple):
    """One row of the table over the steps of training."""

    steps: list[int]
    means: list[float]
    sds: list[float]  # zero where there is one seed
    on_training: bool  # measured on training batches, for want of tests


def learning_curve(results: Results, row: Row) -> Curve | None:
    """The held-out metric, or that of the training batches where there are too few tests; None without runs.

    A row that was measured on the way has none either, being a point of another's, nor has a measure of the trace.
    """
    if row.described.at is not None or row.described.traced:
        return None
    metric = results.description.metric_of(row.described)
    records = [read_records(RunDirectory(run.folder).records) for run in row.runs]
    factor = results.description.factor_of(row.described)
    tests = [_points(run, metric, "eval", row.described.test) for run in records]
    on_training = any(len(points) < FEWEST_TESTS for points in tests)
    if on_training:
        tests = [_points(run, metric, "train", None) for run in records]
    shared = sorted(set.intersection(*(set(points) for points in tests))) if tests else []
    if not shared:
        return None
    values = [[factor * points[step] for points in tests] for step in shared]
    sds = [statistics.stdev(each) if len(each) > 1 else 0.0 for each in values]
    return Curve(shared, [statistics.fmean(each) for each in values], sds, on_training)


def _points(records: list[Record], metric: str, kind: str, test: str | None) -> dict[int, float]:
    return {
        record.step: record.metrics[metric]
        for record in records
        if record.kind == kind and record.test == test and metric in record.metrics
    }
