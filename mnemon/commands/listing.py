"""``mnemon list``: what there is, where the thesis describes it, and in which file it lives."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import tyro

from mnemon.commands.console import table_console
from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.models.catalogue import MODELS
from mnemon.tasks.catalogue import DATA_TASKS, TASKS

Kind = Literal["models", "tasks", "experiments"]


@dataclass(frozen=True, kw_only=True)
class List:
    """Show the models, tasks and experiments, with their place in the thesis and their file."""

    kind: Annotated[Kind | None, tyro.conf.Positional] = None
    """What to list; everything by default."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Print the catalogues."""
        kinds: tuple[Kind, ...] = get_args(Kind) if self.kind is None else (self.kind,)
        listed = {kind: _rows(kind) for kind in kinds}
        if self.json:
            print(json.dumps(listed, indent=2, ensure_ascii=False))
            return
        from rich.table import Table

        for kind, rows in listed.items():
            table = Table(title=kind, title_justify="left", title_style="bold")
            for column in rows[0]:
                table.add_column(column)
            for row in rows:
                table.add_row(*row.values())
            table_console().print(table)


def _rows(kind: Kind) -> list[dict[str, str]]:
    catalogues: dict[Kind, Mapping[str, Any]] = {
        "models": MODELS,
        "tasks": {**TASKS, **DATA_TASKS},
        "experiments": EXPERIMENTS,
    }
    return [
        {"name": name, "summary": entry.summary, "thesis": entry.thesis, "file": entry.file}
        for name, entry in catalogues[kind].items()
    ]
