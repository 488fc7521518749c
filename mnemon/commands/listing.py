"""``mnemon list``: what there is, where the thesis describes it, and in which file it lives."""

import json
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from mnemon.models.catalogue import MODELS
from mnemon.tasks.catalogue import TASKS

Kind = Literal["models", "tasks"]


@dataclass(frozen=True, kw_only=True)
class List:
    """Show the models and tasks, with their place in the thesis and their file."""

    kind: Annotated[Kind | None, tyro.conf.Positional] = None
    """What to list; everything by default."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Print the catalogues."""
        kinds: tuple[Kind, ...] = ("models", "tasks") if self.kind is None else (self.kind,)
        listed = {kind: _rows(kind) for kind in kinds}
        if self.json:
            print(json.dumps(listed, indent=2, ensure_ascii=False))
            return
        from rich.console import Console
        from rich.table import Table

        for kind, rows in listed.items():
            table = Table(title=kind, title_justify="left", title_style="bold")
            for column in rows[0]:
                table.add_column(column)
            for row in rows:
                table.add_row(*row.values())
            Console().print(table)


def _rows(kind: Kind) -> list[dict[str, str]]:
    catalogue = MODELS if kind == "models" else TASKS
    return [
        {"name": name, "summary": entry.summary, "thesis": entry.thesis, "file": entry.file}
        for name, entry in catalogue.items()
    ]
