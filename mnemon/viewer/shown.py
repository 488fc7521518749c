"""The sequence itself: what a model was shown, and what it made of it.

Letters: ``T`` steps, ``B`` batch, ``I`` input channels, ``O`` output channels.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from mnemon.tasks.base import Batch, Task
from mnemon.tasks.phases import phases
from mnemon.viewer.answers import Answer, answers_of
from mnemon.viewer.naming import asks_bits, name_of, names_of
from mnemon.viewer.panel import Clock, Heat, Panel, Tokens
from mnemon.viewer.timeline import Timeline, steps_of

MOST_CHANNELS = 12  # that are put into words


class Shown(NamedTuple):
    """The panels of a sequence; for every step of the page its phase, and in words what was shown there."""

    panels: list[Panel]
    phases: list[str]
    texts: list[str]
    answers: list[Answer]


def shown_sequence(
    timeline: Timeline, inputs: Float[Tensor, "T I"], output: Float[Tensor, "T O"] | None = None
) -> Shown:
    """A sequence of one's own, of which no task is known."""
    clock = timeline.answer
    panels: list[Panel] = [_grid(inputs, (), clock)]
    if output is not None:
        panels.append(Heat(title="Output", rows="channel", values=output, clock=clock))
    return Shown(panels, ["sequence"] * timeline.steps, _spell(inputs, ()), [])


def shown_row(task: Task, batch: Batch, row: int, output: Float[Tensor, "T B O"], timeline: Timeline) -> Shown:
    """One row of a task's batch."""
    steps, names, clock = timeline.steps, names_of(task), timeline.answer
    inputs = batch.inputs[:steps, row]
    answers = answers_of(task, batch, row, output, clock, names.outputs)
    if not asks_bits(task) and _are_tokens(inputs):
        texts = [name_of(int(step.argmax()), names.inputs) if step.any() else "" for step in inputs]
        panel: Panel = Tokens(title="Input", texts=texts, clock=clock)
    else:
        texts, panel = _spell(inputs, names.inputs), _grid(inputs, names.inputs, clock)
    return Shown([panel, *answers.panels], phases(task, batch, row)[:steps], texts, answers.in_words)


def shown_visits(task: Task, batch: Batch, row: int, output: Float[Tensor, "T B O"], timeline: Timeline) -> Shown:
    """The views that a row was shown, and its answers."""
    names = names_of(task)
    texts, panels = [""] * timeline.steps, list[Panel]()
    for number, clock in enumerate(timeline.views):
        said = [name_of(token, names.inputs) for token in _tokens(batch, row, number)]
        title = "Input" if len(timeline.views) == 1 else f"Input, view {number + 1}"
        panels.append(Tokens(title=title, texts=said, clock=clock))
        for step, text in zip(steps_of(clock), said, strict=True):
            texts[step] = f"{texts[step]} {text}".strip()
    answers = answers_of(task, batch, row, output, timeline.answer, names.outputs)
    kinds = ["read"] * timeline.steps
    for step in steps_of(timeline.answer):
        kinds[step] = "answer"
    return Shown([*panels, *answers.panels], kinds, texts, answers.in_words)


def _tokens(batch: Batch, row: int, view: int) -> list[int]:
    """Of one view, in all visits."""
    assert batch.visits is not None
    return [
        int(token)
        for visit in batch.visits
        for token in visit.views[view][: int(visit.lengths[view][row]), row].tolist()
    ]


def _grid(inputs: Float[Tensor, "T I"], names: Sequence[str], clock: Clock) -> Panel:
    labels = [name_of(channel, names) for channel in range(inputs.shape[1])] if names else ()
    return Heat(title="Input", rows="channel", names=labels, values=inputs, clock=clock)


def _are_tokens(inputs: Float[Tensor, "T I"]) -> bool:
    """Whether every step has one channel that is 1, or none."""
    one_hot = ((inputs == 0) | (inputs == 1)).all() and (inputs.sum(1) <= 1).all()
    return bool(one_hot) and inputs.shape[1] > 1


def _spell(inputs: Float[Tensor, "T I"], names: Sequence[str]) -> list[str]:
    """Bits as digits, other channels by their names, with their number where it is not one; few channels only."""
    if inputs.shape[1] > MOST_CHANNELS:
        return [""] * len(inputs)
    labels = [name_of(channel, names) for channel in range(inputs.shape[1])]
    are_bits = [not names or label.startswith("bit") for label in labels]
    whole = bool(((inputs == 0) | (inputs == 1)).all())

    def spell(step: list[float]) -> str:
        bits = [value for value, is_bit in zip(step, are_bits, strict=True) if is_bit]
        marks = [
            (label, value) for label, value, is_bit in zip(labels, step, are_bits, strict=True) if value and not is_bit
        ]
        digits = (
            ("".join(f"{bit:.0f}" for bit in bits) if whole else ", ".join(f"{bit:.2f}" for bit in bits))
            if any(bits)
            else ""
        )
        return " ".join([digits, *(label if value == 1 else f"{label} {value:.2g}" for label, value in marks)]).strip()

    return [spell(step) for step in inputs.tolist()]
