"""The sequence itself: what a model was shown, what it was asked for, and what it answered.

Letters: ``T`` steps, ``B`` batch, ``I`` input channels, ``O`` output channels.

Bits become a row for each channel, classes and words a text at each step, numbers lines. A wrong answer is marked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mnemon.tasks.base import Batch, Task
from mnemon.tasks.phases import phases
from mnemon.tasks.scoring import wrong_bits, wrong_classes
from mnemon.tasks.sinusoid import Sinusoid
from mnemon.viewer.naming import asks_bits, name_of, names_of
from mnemon.viewer.panel import Clock, Heat, Lines, Panel, Tokens
from mnemon.viewer.timeline import Timeline, steps_of

LONGEST_BITS = 12  # that are spelt out
ANSWER_NOTE = "Shades are probabilities; × marks a wrong answer."


class Shown(NamedTuple):
    """The panels of a sequence; for every step of the page its phase, and in words what was shown there."""

    panels: list[Panel]
    phases: list[str]
    texts: list[str]


def shown_sequence(
    timeline: Timeline, inputs: Float[Tensor, "T I"], output: Float[Tensor, "T O"] | None = None
) -> Shown:
    """A sequence of one's own, of which no task is known."""
    clock = timeline.answer
    panels = [_input_panel(inputs, (), clock, bits=True)]
    if output is not None:
        panels.append(Heat(title="Output", rows="channel", values=output, clock=clock))
    return Shown(panels, ["sequence"] * timeline.steps, _texts(inputs, (), bits=True))


def shown_row(task: Task, batch: Batch, row: int, output: Float[Tensor, "T B O"], timeline: Timeline) -> Shown:
    """One row of a task's batch."""
    steps, names, bits = timeline.steps, names_of(task), asks_bits(task)
    inputs = batch.inputs[:steps, row]
    answers = _answers(task, batch, row, output, timeline.answer, names.outputs)
    texts = _texts(inputs, names.inputs, bits=bits)
    first = _input_panel(inputs, names.inputs, timeline.answer, bits=bits)
    return Shown([first, *answers], phases(task, batch, row)[:steps], texts)


def shown_visits(task: Task, batch: Batch, row: int, output: Float[Tensor, "T B O"], timeline: Timeline) -> Shown:
    """The views that a row was shown, and its answers."""
    assert batch.visits is not None
    names = names_of(task)
    texts, panels = [""] * timeline.steps, []
    for number, clock in enumerate(timeline.views):
        tokens = [
            token for visit in batch.visits for token in visit.views[number][: int(visit.lengths[number][row]), row].tolist()
        ]
        said = [name_of(token, names.inputs) for token in tokens]
        title = "Input" if len(timeline.views) == 1 else f"Input, view {number + 1}"
        panels.append(Tokens(title=title, texts=said, clock=clock))
        for step, text in zip(steps_of(clock), said, strict=True):
            texts[step] = f"{texts[step]} {text}".strip()
    answers = _answers(task, batch, row, output, timeline.answer, names.outputs)
    kinds = ["read"] * timeline.steps
    for step in steps_of(timeline.answer):
        kinds[step] = "answer"
    return Shown([*panels, *answers], kinds, texts)


def _answers(
    task: Task, batch: Batch, row: int, output: Float[Tensor, "T B O"], clock: Clock, names: Sequence[str]
) -> list[Panel]:
    steps = sum(count for _, count in clock)
    asked = batch.mask[:steps, row] > 0
    targets, said = batch.targets[:steps, row], output[:steps, row]
    if isinstance(task, Sinusoid):
        return [_numbers(targets, said, asked, clock)]
    if asks_bits(task):
        return _bits(targets, said, asked, wrong_bits(output, batch)[:steps, row], clock, names)
    wrong = wrong_classes(output, batch)[:steps, row].tolist()
    right, own = (
        [name_of(token, names) if there else "" for token, there in zip(each.argmax(-1).tolist(), asked.tolist(), strict=True)]
        for each in (targets, said)
    )
    return [
        Tokens(title="Target", texts=right, clock=clock),
        Tokens(title="Prediction", note="× marks a wrong answer.", texts=own, wrong=wrong, answers=True, clock=clock),
    ]


def _bits(
    targets: Float[Tensor, "T O"],
    said: Float[Tensor, "T O"],
    asked: Bool[Tensor, "T"],
    wrong: Bool[Tensor, "T O"],
    clock: Clock,
    names: Sequence[str],
) -> list[Panel]:
    """Blank where nothing is asked; of very many channels those that are asked for or answered."""
    blank = ~asked.unsqueeze(1)
    right, own = (each.masked_fill(blank, torch.nan) for each in (targets, said.sigmoid()))
    labels = [name_of(number, names) for number in range(targets.shape[1])]
    if len(labels) > 4 * LONGEST_BITS:
        kept = ((targets > 0) | (said > 0) | wrong).any(0).nonzero().flatten().tolist()
        right, own, wrong, labels = right[:, kept], own[:, kept], wrong[:, kept], [labels[number] for number in kept]
    return [
        Heat(title="Target", rows="channel", names=labels, values=right, clock=clock),
        Heat(title="Prediction", note=ANSWER_NOTE, rows="channel", names=labels, values=own, wrong=wrong, clock=clock),
    ]


def _numbers(
    targets: Float[Tensor, "T O"], said: Float[Tensor, "T O"], asked: Bool[Tensor, "T"], clock: Clock
) -> Panel:
    blank = ~asked.unsqueeze(1)
    values = torch.cat([each.masked_fill(blank, torch.nan) for each in (targets, said)], dim=1)
    several = targets.shape[1] > 1
    names = [f"{what} {number}" if several else what for what in ("target", "prediction") for number in range(1, 1 + targets.shape[1])]
    return Lines(title="Target and prediction", names=names, values=values, clock=clock)


def _input_panel(inputs: Float[Tensor, "T I"], names: Sequence[str], clock: Clock, *, bits: bool) -> Panel:
    if not bits and _are_tokens(inputs):
        return Tokens(title="Input", texts=_texts(inputs, names, bits=False), clock=clock)
    labels = names if len(names) == inputs.shape[1] else ()
    return Heat(title="Input", rows="channel", names=labels, values=inputs, clock=clock)


def _are_tokens(inputs: Float[Tensor, "T I"]) -> bool:
    """Whether every step has one channel that is 1, or none."""
    one_hot = ((inputs == 0) | (inputs == 1)).all() and (inputs.sum(1) <= 1).all()
    return bool(one_hot) and inputs.shape[1] > 1


def _texts(inputs: Float[Tensor, "T I"], names: Sequence[str], *, bits: bool) -> list[str]:
    """What was shown at each step, in few words; nothing where that is not possible."""
    if not bits and _are_tokens(inputs):
        return [name_of(int(step.argmax()), names) if step.any() else "" for step in inputs]
    if ((inputs == 0) | (inputs == 1)).all() and inputs.shape[1] <= LONGEST_BITS:
        return ["".join("1" if bit else "0" for bit in step) if any(step) else "" for step in inputs.tolist()]
    if inputs.shape[1] <= 2:
        return [", ".join(f"{number:.2f}" for number in step) for step in inputs.tolist()]
    return [""] * len(inputs)
