"""A run as a page shows it: the sequence, and all that was recorded of the model's cells while it read it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from mnemon.theory.clusters import principal_components
from mnemon.trace import CellTrace
from mnemon.viewer.drawings import matrix_panels, mode_panel, program_panels, steering_panels, weighting_panels
from mnemon.viewer.held import NONE, changes, find_held
from mnemon.viewer.memories import Watched, memories_of
from mnemon.viewer.packing import Arrays
from mnemon.viewer.panel import Clock, HeldInputs, Panel, States
from mnemon.viewer.shown import Shown
from mnemon.viewer.timeline import Timeline, steps_of

HELD_NOTE = "A bar begins with the step whose input a slot holds, and ends where it is overwritten."
STATES_NOTE = "The controller's state at each step, on its first two principal components."


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
            "panels": panels,
            **arrays.pack(most),
        }


def _panels(cells: Mapping[str, CellTrace], timeline: Timeline, row: int) -> Iterator[Panel]:
    """For each cell what goes on from step to step, then what there is at a step."""
    headings = {name: "" if len(cells) == 1 else _heading(name) for name in cells}
    watched = _share_spaces(
        [
            (memory, timeline.cells[name])
            for name, cell in cells.items()
            for memory in memories_of(headings[name], cell, row, len(steps_of(timeline.cells[name])))
        ]
    )
    for name, cell in cells.items():
        heading, clock = headings[name], timeline.cells[name]
        steps, own = len(steps_of(clock)), [memory for memory, _ in watched if memory.cell == heading]
        for memory in own:
            yield from weighting_panels(memory, clock)
            yield from _held(memory, watched)
            yield from steering_panels(memory, clock)
        if cell.has_programs:
            heads = own[0].state["read_weights"].shape[1] if own[0].has_slots else 0
            yield from program_panels(heading, cell.programs[:steps, row], heads, clock)
        if cell.has_modes and cell.modes.shape[2] > 1:
            yield mode_panel(heading, cell.modes[:steps, row], clock)
        yield from _states(heading, cell.controller.hidden[:steps, row], clock)
    for memory, clock in watched:
        yield from matrix_panels(memory, clock)


def _share_spaces(watched: list[tuple[Watched, Clock]]) -> list[tuple[Watched, Clock]]:
    """The memories that decoders only read are those that encoders wrote, in the same order."""
    writers = [memory for memory, _ in watched if memory.has_slots and memory.written.any()]
    readers = [memory for memory, _ in watched if memory.has_slots and not memory.written.any()]
    handed = [
        writer.state["memory"].shape[1:] == reader.state["memory"].shape[1:]
        for writer, reader in zip(writers, readers, strict=False)
    ]
    if len(writers) != len(readers) or not all(handed):
        return watched
    spaces = {reader.space: writer.space for writer, reader in zip(writers, readers, strict=True)}
    return [(memory._replace(space=spaces.get(memory.space, memory.space)), clock) for memory, clock in watched]


def _heading(name: str) -> str:
    """What people call a cell, from the name of its module."""
    words = [word for word in name.split(".") if word not in ("rnn", "cell", "model")]
    return " ".join(str(int(word) + 1) if word.isdigit() else word.removesuffix("s") for word in words) or name


def _states(heading: str, hidden: Float[Tensor, "T H"], clock: Clock) -> Iterator[Panel]:
    if min(hidden.shape) >= 2 and len(hidden) >= 3 and hidden.isfinite().all():
        title = "Where the controller is"
        yield States(
            title=title, note=STATES_NOTE, projection=principal_components(hidden), clock=clock, cell=heading
        )


def _held(memory: Watched, watched: Sequence[tuple[Watched, Clock]]) -> Iterator[Panel]:
    """Of a memory whose slots are written, to the end of the last cell that has it."""
    if not (memory.has_slots and memory.written.any()):
        return
    sharing = [(other, clock) for other, clock in watched if other.space == memory.space]
    contents = torch.cat([other.state["memory"] for other, _ in sharing])
    clock = [stretch for _, own in sharing for stretch in own]
    times = steps_of(clock)
    if times != sorted(times) or not contents.isfinite().all():
        return  # with several visits the cells take turns
    weights = memory.state["write_weights"][0]
    first = (weights if weights.dim() == 1 else weights.sum(0)) * memory.written[0]
    held = find_held(changes(contents, first))
    yield HeldInputs(
        title=memory.of("Which input each slot holds"),
        note=HELD_NOTE,
        sources=_at_steps(held.sources, times),
        shares=held.shares,
        clock=clock,
        cell=memory.cell,
        space=memory.space,
    )


def _at_steps(sources: Int[Tensor, "T N"], times: list[int]) -> Int[Tensor, "T N"]:
    """From the number of a recorded step to the step of the page."""
    return torch.where(sources == NONE, NONE, torch.tensor(times)[sources.clamp_min(0)])
