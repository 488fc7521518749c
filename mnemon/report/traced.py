"""The traces that runs leave: what a model did with held-out sequences, as JSON."""

from pathlib import Path
from typing import Any, NamedTuple

from mnemon.errors import UserError
from mnemon.report.results import Results
from mnemon.training.directory import RunDirectory
from mnemon.training.files import read_json


class Traced(NamedTuple):
    """A row's first run that left a trace."""

    setting: str
    model: str
    seed: int
    path: Path
    document: dict[str, Any]

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.setting}, {self.model}, seed {self.seed}"


def first_traces(results: Results) -> list[Traced]:
    """One for each folder of runs, which may fill several rows."""
    found: dict[str | None, Traced] = {}
    for row in results.rows:
        paths = {run.seed: RunDirectory(run.folder).traces for run in row.runs}
        seed = next((seed for seed, path in paths.items() if path.exists()), None)
        if seed is not None and row.described.folder not in found:
            place = (row.described.setting, row.described.model, seed, paths[seed])
            found[row.described.folder] = Traced(*place, read_json(paths[seed]))
    return list(found.values())


def part_of(traced: Traced, name: str, fields: set[str]) -> list[dict[str, Any]]:
    """A part of the document as a list, each entry of which has all fields."""
    part = traced.document.get(name)
    entries = [entry for entry in (part if isinstance(part, list) else [part]) if isinstance(entry, dict)]
    if not entries or not all(fields <= set(entry) for entry in entries):
        raise UserError(f"{traced.path} holds no {name}: each needs {', '.join(sorted(fields))}")
    return entries
