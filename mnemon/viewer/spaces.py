"""Memories over the whole of a page: an encoder writes one, and a decoder goes on with it.

Letters: ``T`` steps, ``N`` slots, ``W`` word.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from mnemon.viewer.drawings import LINKS_NOTE, MEMORY_NOTE
from mnemon.viewer.held import NONE, changes, find_held
from mnemon.viewer.memories import Watched
from mnemon.viewer.panel import Clock, HeldInputs, Matrix, Panel
from mnemon.viewer.timeline import ENCODER_VIEW, steps_of

HELD_NOTE = "From the step that wrote it to the one that overwrites it."


class Timed(NamedTuple):
    """A memory of a cell, and when its steps were."""

    memory: Watched
    clock: Clock


def share_spaces(watched: Sequence[Timed]) -> list[Timed]:
    """Name the slots of a decoder's memories as those of the encoders, in their order, where they are as large."""
    slotted = [memory for memory, _ in watched if memory.has_slots]
    encoders = [memory for memory in slotted if ENCODER_VIEW.search(memory.module)]
    decoders = [memory for memory in slotted if not ENCODER_VIEW.search(memory.module)]
    sizes = [[memory.state["memory"].shape[1:] for memory in side] for side in (encoders, decoders)]
    if sizes[0] != sizes[1]:
        return list(watched)
    spaces = {decoder.space: encoder.space for encoder, decoder in zip(encoders, decoders, strict=True)}
    return [Timed(memory._replace(space=spaces.get(memory.space, memory.space)), clock) for memory, clock in watched]


def held_panels(sharing: Sequence[Timed]) -> Iterator[Panel]:
    """Which input each slot of a memory holds, through all cells that have it one after the other."""
    first = sharing[0].memory
    if not (first.has_slots and "write_weights" in first.state and first.written.any()):
        return
    contents = torch.cat([memory.state["memory"] for memory, _ in sharing])
    clock, times = _joined(sharing)
    if times != sorted(times) or not contents.isfinite().all():
        return  # with several visits the cells take turns
    weights = first.state["write_weights"][0]
    begun = (weights if weights.dim() == 1 else weights.sum(0)) * first.written[0]
    held = find_held(changes(contents, begun))
    yield HeldInputs(
        title=first.of("Which input each slot holds"),
        note=HELD_NOTE,
        sources=_at_steps(held.sources, times),
        shares=held.shares,
        clock=clock,
        cell=first.cell,
        space=first.space,
    )


def matrix_panels(sharing: Sequence[Timed]) -> Iterator[Panel]:
    """What is in a memory at a step, and in which order it was written."""
    first = sharing[0].memory
    clock, times = _joined(sharing)
    order = torch.tensor(times).argsort(stable=True)
    slots = first.has_slots
    for name, title in (("memory", "What is in the memory"), ("links", "In which order slots were written")):
        parts = [memory.state[name] for memory, _ in sharing if name in memory.state]
        if len(parts) < len(sharing) or not parts[0].shape[1:].numel():
            continue
        links = name == "links"
        yield Matrix(
            title=first.of(title),
            note=LINKS_NOTE if links else MEMORY_NOTE if slots else "",
            rows="slot" if slots else "key",
            columns="slot before" if links else "number",
            columns_are_slots=links,
            values=torch.cat(parts)[order],
            clock=sorted(clock),
            cell=first.cell,
            space=first.space,
        )


def _joined(sharing: Sequence[Timed]) -> tuple[Clock, list[int]]:
    clock = [stretch for _, own in sharing for stretch in own]
    return clock, steps_of(clock)


def _at_steps(sources: Int[Tensor, "T N"], times: list[int]) -> Int[Tensor, "T N"]:
    """From the number of a recorded step to the step of the page."""
    return torch.where(sources == NONE, NONE, torch.tensor(times)[sources.clamp_min(0)])
