"""What is drawn of a memory, by the names of the fields in its interface and its state.

Any memory whose fields have these names is drawn, also one that mnemon does not know; other fields are left out. What
steers a write is blank at steps that did not write.

Letters: ``T`` steps, ``K`` rows or series, ``H`` heads.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.viewer.memories import Watched
from mnemon.viewer.panel import Clock, Heat, Lines, Panel, Shares, span


class Shades(NamedTuple):
    """A field that becomes shades: (T, K), or (T, H, K) with a panel for each head."""

    title: str
    note: str
    rows: str
    hue: str
    writes: bool = False


class Gate(NamedTuple):
    """A field that becomes a line, (T), or one for each head, (T, H)."""

    name: str
    writes: bool = False


WEIGHTINGS = {
    "write_weights": Shades(
        "Where it writes", "The write weighting: strong where most is written.", "slot", "write", writes=True
    ),
    "read_weights": Shades("Where it reads", "The read weighting: strong where most is read.", "slot", "read"),
}
KEYS = {
    "key": Shades(
        "The key it writes under", "A matrix memory has keys in place of slots.", "key", "write", writes=True
    ),
    "queries": Shades("The key it looks up", "It reads what was written under keys like this one.", "key", "read"),
    "relations": Shades("Which relation it reads", "A distribution over relations.", "relation", "read"),
    "signals": Shades("What enters the window", "Each signal is compressed over a window of steps.", "signal", "plain"),
}
FILLINGS = {
    "usage": Shades(
        "Which slots are in use", "Usage: what is strong is kept, what is faint may be overwritten.", "slot", "use"
    ),
    "strengths": Shades("What is in the line", "Strength: how much of a row has not been popped.", "slot", "use"),
}
GATES = {
    "write_gate": Gate("write", writes=True),
    "allocation_gate": Gate("allocation", writes=True),
    "free_gates": Gate("free"),
    "write_gates": Gate("write where it read", writes=True),
    "pushes": Gate("push", writes=True),
    "pops": Gate("pop"),
    "strength": Gate("write", writes=True),
    "retention": Gate("keep"),
}
GATES_OF_ADDRESSES = {"read": Gate("read by content"), "write": Gate("write by content", writes=True)}
GATES_NOTE = "Open at 1, closed at 0; not drawn where the memory was not written."
READ_MODES = ("backward", "content", "forward")
MODES_NOTE = "By content, or along the order of writing, backward or forward."
MEMORY_NOTE = "Bars: where it writes (left) and reads (right)."
LINKS_NOTE = "The link matrix: strong where a row's slot was written right after a column's."


def weighting_panels(watched: Watched, clock: Clock) -> Iterator[Panel]:
    """Where it is written and read from step to step."""
    place = {"clock": clock, "cell": watched.cell}
    for drawings, fields in ((WEIGHTINGS, watched.state), (KEYS, watched.interface)):
        for name, drawing in drawings.items():
            if name in fields:
                yield from _shades(watched, drawing, fields[name], place)


def steering_panels(watched: Watched, clock: Clock) -> Iterator[Panel]:
    """What steers it from step to step, and how full it is."""
    place = {"clock": clock, "cell": watched.cell}
    state, interface = watched.state, watched.interface
    yield from _gates(watched, place)
    if interface.get("read_modes", torch.empty(0)).shape[-1] == len(READ_MODES):
        title = watched.of("How it finds what to read")
        yield from _shares(title, MODES_NOTE, READ_MODES, interface["read_modes"], place)
    for name in GATES_OF_ADDRESSES:
        if name in interface:
            shifts = interface[name].shifts
            furthest = shifts.shape[-1] // 2
            moves = [f"{move:+d}" if move else "stay" for move in range(-furthest, shifts.shape[-1] - furthest)]
            if name == "write":
                shifts = _where_written(watched, shifts)
            if not shifts.isnan().all():
                yield from _shares(watched.of(f"How the {name} head moves"), "In slots.", moves, shifts, place)
    for name, drawing in FILLINGS.items():
        if name in state:
            yield from _shades(watched, drawing, state[name], place)


def program_panels(cell: str, programs: Float[Tensor, "T H K"], heads: int, clock: Clock) -> Iterator[Panel]:
    """Which stored program steers each head; read heads come first where each head has its own store."""
    stores = programs.shape[1]
    for number, store in enumerate(programs.unbind(1), start=1):
        whose = f", store {number}" if stores > 1 else ""
        if stores > heads:
            whose = f", read head {number}" if number <= heads else f", write head {number - heads}"
        names = [f"program {program}" for program in range(1, 1 + programs.shape[2])]
        title, note = f"Which program steers it{whose}", "How much of each stored program is in use."
        yield Shares(title=title, note=note, names=names, values=store, clock=clock, cell=cell)


def mode_panel(cell: str, modes: Float[Tensor, "T K"], clock: Clock) -> Panel:
    """How much each mode of the latent variable's prior weighs."""
    names = [f"mode {mode}" for mode in range(1, 1 + modes.shape[1])]
    note = "The weights of the mixture that the latent variable is drawn from."
    return Shares(title="Modes of the mixture", note=note, names=names, values=modes, clock=clock, cell=cell)


def hop_panel(hops: Float[Tensor, "K T"], clock: Clock) -> Panel:
    """Where each hop of a memory network looked in its story."""
    return Heat(
        title="Where each hop looks",
        note="The weight of each word, or of its sentence.",
        rows="hop",
        names=[str(hop) for hop in range(1, 1 + len(hops))],
        hue="read",
        values=hops.T,
        clock=clock,
    )


def _shades(watched: Watched, drawing: Shades, values: Tensor, place: dict[str, Any]) -> Iterator[Panel]:
    if not values.shape[1:].numel() or (drawing.writes and not watched.written.any()):
        return
    heads = values.unsqueeze(1) if values.dim() == 2 else values
    ends = span(heads)  # one for all, so that heads can be compared
    for number, head in enumerate(heads.unbind(1), start=1):
        yield Heat(
            title=watched.of(drawing.title if heads.shape[1] == 1 else f"{drawing.title}, head {number}"),
            note=drawing.note if number == 1 else "",
            rows=drawing.rows,
            hue=drawing.hue,
            ends=ends,
            values=_where_written(watched, head) if drawing.writes else head,
            space=watched.space if drawing.rows == "slot" else "",
            **place,
        )


def _gates(watched: Watched, place: dict[str, Any]) -> Iterator[Panel]:
    """All gates in one panel."""
    found = [(GATES[name], watched.interface[name]) for name in GATES if name in watched.interface]
    found += [
        (gate, watched.interface[name].gates) for name, gate in GATES_OF_ADDRESSES.items() if name in watched.interface
    ]
    names, series = [], []
    for gate, values in found:
        if gate.writes and not watched.written.any():
            continue
        columns = values.reshape(len(values), -1)
        several = columns.shape[1] > 1
        names += [f"{gate.name} {head}" if several else gate.name for head in range(1, 1 + columns.shape[1])]
        series.append(_where_written(watched, columns) if gate.writes else columns)
    if series:
        yield Lines(title=watched.of("Gates"), note=GATES_NOTE, names=names, values=torch.cat(series, dim=1), **place)


def _shares(
    title: str, note: str, names: tuple[str, ...] | list[str], values: Float[Tensor, "T H K"], place: dict[str, Any]
) -> Iterator[Panel]:
    for number, head in enumerate(values.unbind(1), start=1):
        whole = title if values.shape[1] == 1 else f"{title}, head {number}"
        yield Shares(title=whole, note=note if number == 1 else "", names=names, values=head, **place)


def _where_written(watched: Watched, values: Float[Tensor, "T *K"]) -> Float[Tensor, "T *K"]:
    return values.masked_fill(~watched.written.view(-1, *(1,) * (values.dim() - 1)), torch.nan)
