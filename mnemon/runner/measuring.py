"""Measuring a law in a worker: its curves go into a file of their own, its numbers where those of a test go."""

import math

from mnemon.runner.at_once import Outcome, do_at_once
from mnemon.runner.measurement import TEST, Measurement
from mnemon.runner.messages import Assignment
from mnemon.training.directory import RunDirectory
from mnemon.training.files import write_json
from mnemon.training.progress import Progress


def measure_law(measurement: Measurement, assignment: Assignment, progress: Progress) -> None:
    """Measure, and leave ``law.json`` beside records and summary; a law has no loss."""

    def measure(directory: RunDirectory) -> Outcome:
        measured = measurement.law.measure(measurement.seed)
        write_json(directory.law, measured.to_json())
        return Outcome(math.nan, {TEST: dict(measured.metrics)})

    do_at_once(measure, assignment, training={"seed": measurement.seed}, tests=[TEST], progress=progress)
