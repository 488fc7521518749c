"""A run as a page shows it: the sequence, and all that was recorded of the model's cells while it read it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from mnemon.theory.clusters import principal_components
from mnemon.trace import CellTrace
from mnemon.viewer.drawings import mode_panel, program_panels, steering_panels, weighting_panels
from mnemon.viewer.memories import memories_of
from mnemon.viewer.packing import Arrays
from mnemon.viewer.panel import Clock, Panel, States
from mnemon.viewer.shown import Shown
from mnemon.viewer.spaces import Timed, held_panels, matrix_panels, share_spaces
from mnemon.viewer.timeline import Timeline, steps_of

STATES_NOTE = "Its state at each step, on the first two principal components."


class RunView:
    """One run of a page: a title, some facts, and panels."""

    def __init__(
        self,
        title: str,
        facts: Sequence[str],
        shown: Shown,
        timeline: Timeline,
        trace: Mapping[str, CellTrace],
        row: int,
    ) -> None:
        self.title, self.facts, self.shown = title, list(facts), shown
        cells = {name: cell for name, cell in trace.items() if len(cell)}
        self.panels: list[Panel] = [*shown.panels, *_panels(cells, timeline, row)]

    def describe(self, most: int) -> dict[str, Any]:
        """All of it as JSON, its numbers in ``most`` bytes where that is possible."""
        arrays = Arrays()
        panels = [panel.describe(arrays) for panel in self.panels]
        names = list(dict.fromkeys(self.shown.phases))
        return {
            "title": self.title,
            "facts": self.facts,
            "steps": len(self.shown.phases),
            "phases": {"names": names, "steps": [names.index(name) for name in self.shown.phases]},
            "texts": self.shown.texts,
            "answers": [answer._asdict() for answer in self.shown.answers],
            "panels": panels,
            **arrays.pack(most),
        }


def _panels(cells: Mapping[str, CellTrace], timeline: Timeline, row: int) -> Iterator[Panel]:
    """For each cell what goes on from step to step, then what there is at a step."""
    headings = {name: "" if len(cells) == 1 else _heading(name) for name in cells}
    counts = {name: len(steps_of(timeline.cells[name])) for name in cells}
    watched = share_spaces(
        [
            Timed(memory, timeline.cells[name])
            for name, cell in cells.items()
            for memory in memories_of(name, headings[name], cell, row, counts[name])
        ]
    )
    spaces: dict[str, list[Timed]] = {}
    for each in watched:
        spaces.setdefault(each.memory.space, []).append(each)
    for name, cell in cells.items():
        heading, clock, own = (
            headings[name],
            timeline.cells[name],
            [each for each in watched if each.memory.module == name],
        )
        for memory, _ in own:
            yield from weighting_panels(memory, clock)
            if spaces[memory.space][0].memory is memory:
                yield from held_panels(spaces[memory.space])
            yield from steering_panels(memory, clock)
        if cell.has_programs:
            first = own[0].memory
            heads = first.state["read_weights"].shape[1] if first.has_slots else 0
            yield from program_panels(heading, cell.programs[: counts[name], row], heads, clock)
        if cell.has_modes and cell.modes.shape[2] > 1:
            yield mode_panel(heading, cell.modes[: counts[name], row], clock)
    for sharing in spaces.values():
        yield from matrix_panels(sharing)
    for name, cell in cells.items():
        yield from _states(headings[name], cell.controller.hidden[: counts[name], row], timeline.cells[name])


def _heading(name: str) -> str:
    """What people call a cell, from the name of its module."""
    words = [word for word in name.split(".") if word not in ("rnn", "cell", "model")]
    return " ".join(str(int(word) + 1) if word.isdigit() else word.removesuffix("s") for word in words) or name


def _states(heading: str, hidden: Float[Tensor, "T H"], clock: Clock) -> Iterator[Panel]:
    if min(hidden.shape) >= 2 and len(hidden) >= 3 and hidden.isfinite().all():
        projection = principal_components(hidden)
        title = "Where the controller is"
        yield States(title=title, note=STATES_NOTE, projection=projection, clock=clock, cell=heading)
