"""What a model recommends for a patient, and why: gates, reads, and what happens when an event is left out.

Letters: ``N`` slots, ``L`` codes of the target.

A write gate tells how much of an event a memory was given, and a read weight from which slot the decoder took; neither
tells whether the event mattered. So each event is also left out, and the prediction made again: the difference is what
the event did. What the slots hold is followed through the writes: a write of weight w puts its event into a slot and
leaves of what was there 1 − w ē, where ē is the mean of the erase vector.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.ehr.prediction import END
from mnemon.ehr.runs import TrainedRun
from mnemon.ehr.vocabulary import END as END_TOKEN
from mnemon.ehr.vocabulary import FIRST_CODE
from mnemon.errors import UserError
from mnemon.memory.dnc import DNCInterface
from mnemon.memory.write_cache import CachedInterface, CachedState
from mnemon.models.decoder import SetDecoder
from mnemon.models.encoder_decoder import EncoderDecoder
from mnemon.trace import CellTrace, record_trace
from mnemon.views import Visit


@dataclass(frozen=True)
class Recommended:
    """A code, and how likely the model finds it."""

    code: str
    name: str
    probability: float
    true: bool  # the records have it


@dataclass(frozen=True)
class Event:
    """A code of the past, and what the model made of it."""

    view: str
    visit: int  # of the patient, from 1 on
    code: str
    name: str
    write_gate: float | None  # None: the model has no memory to write
    read: float | None  # share of what the decoder read that comes from it
    effect: float  # how much the mean probability of what is recommended falls without it


@dataclass(frozen=True)
class Explanation:
    """For one visit of one patient."""

    patient: str
    visit: int
    recommended: list[Recommended]
    events: list[Event]

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def last_visit(run: TrainedRun, patient: int) -> int:
    """The number of a patient's last visit that has an answer."""
    if not 0 <= patient < len(run.prepared.patient_split):
        raise UserError(
            f"there is no patient {patient}: write a number from 0 to {len(run.prepared.patient_split) - 1}"
        )
    task = run.task_of(patient)
    visits = run.prepared.visits(task.split)
    own = visits[run.prepared.visit_patient[visits] == patient]
    if not len(own):
        raise UserError(f"patient {patient} has no visit with something to predict")
    return int(own[-1])


def visits_of(run: TrainedRun, visit: int) -> list[Visit]:
    """What the model is shown before it answers: the visit, or all up to it where the memory persists."""
    task = run.on("test")
    numbers = run.prepared.history(visit) if run.prepared.task.next_visit else range(visit, visit + 1)
    return [task.visit([number]) for number in numbers]


@torch.no_grad()
def probabilities(run: TrainedRun, visits: Sequence[Visit]) -> Float[Tensor, "L"]:
    """How likely each code is; in a sequence, at the step where it is likeliest before the end."""
    memories: Any = None
    steps = 1 if run.prepared.task.as_set else _longest(run)
    output = torch.empty(0)
    for visit in visits:
        output, memories = run.model(visit.views, memories, lengths=visit.lengths, steps=steps)
    if run.prepared.task.as_set:
        return torch.sigmoid(output[0, 0])
    odds = torch.softmax(output[:, 0], dim=-1)
    ends = (odds.argmax(-1) == END).nonzero().flatten()
    before_end = odds[: max(1, int(ends[0]) if len(ends) else len(odds))]
    return before_end[:, FIRST_CODE - END_TOKEN :].amax(0)  # the end and the unknown are no codes


def recommend(run: TrainedRun, visit: int, top: int) -> list[Recommended]:
    """The likeliest codes for a visit, the best first."""
    return _best(run, visit, probabilities(run, visits_of(run, visit)), top)


def explain(run: TrainedRun, patient: str, visit: int, top: int) -> Explanation:
    """What is recommended for a visit, and what each event before it did."""
    visits = visits_of(run, visit)
    whole = probabilities(run, visits)
    recommended = _best(run, visit, whole, top)
    chosen = whole.topk(min(top, len(whole))).indices
    gates, reads = _inside(run, visits)
    events = []
    first = visit - len(visits) + 1
    for number, shown in enumerate(visits):
        for place, view in enumerate(run.inputs):
            for step, token in enumerate(shown.views[place][: int(shown.lengths[place][0]), 0].tolist()):
                without = [*visits[:number], _without(shown, place, step), *visits[number + 1 :]]
                vocabulary = run.prepared.vocabularies[view]
                events.append(
                    Event(
                        view=view,
                        visit=len(run.prepared.history(first + number)),
                        code=vocabulary.code(token),
                        name=vocabulary.name(token),
                        write_gate=gates.get((number, place, step)),
                        read=reads.get((number, place, step)),
                        effect=float((whole - probabilities(run, without))[chosen].mean()),
                    )
                )
    return Explanation(patient, len(run.prepared.history(visit)), recommended, events)


def _longest(run: TrainedRun) -> int:
    """The longest answer of the training patients, and its end."""
    task = run.on("train")
    offsets = run.prepared.views[run.prepared.task.target].offsets
    return 1 + int((offsets[task.rows + 1] - offsets[task.rows]).max())


def _best(run: TrainedRun, visit: int, odds: Float[Tensor, "L"], top: int) -> list[Recommended]:
    vocabulary = run.prepared.vocabularies[run.prepared.task.target]
    right = set(run.prepared.target(visit).tolist())
    best = odds.topk(min(top, len(odds)))
    return [
        Recommended(
            code=vocabulary.code(FIRST_CODE + label),
            name=vocabulary.name(FIRST_CODE + label),
            probability=value,
            true=FIRST_CODE + label in right,
        )
        for value, label in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def _without(visit: Visit, place: int, step: int) -> Visit:
    """The visit without one event of one view."""
    views, lengths = list(visit.views), list(visit.lengths)
    kept = torch.cat([views[place][:step], views[place][step + 1 :]])
    views[place] = kept if len(kept) else torch.zeros_like(views[place])
    lengths[place] = lengths[place] - 1
    return Visit(tuple(views), tuple(lengths))


Place = tuple[int, int, int]  # number of the visit, of the view, of the step


@torch.no_grad()
def _inside(run: TrainedRun, visits: Sequence[Visit]) -> tuple[dict[Place, float], dict[Place, float]]:
    """The write gate of each event, and the share of the last read that comes from it."""
    model = run.model
    if not isinstance(model, EncoderDecoder):
        return {}, {}  # its views are read as one
    gates: dict[Place, float] = {}
    held: list[Tensor | None] = [None] * len(run.inputs)  # N × events so far, by view
    origins: list[list[Place]] = [[] for _ in run.inputs]
    memories: Any = None
    decoder = model.decoders[0]
    reads: dict[Place, float] = {}
    for number, visit in enumerate(visits):
        with record_trace(model) as trace:
            encoded = model.encode(visit.views, visit.lengths, memories)
        memories = encoded.memories
        for place in range(len(run.inputs)):
            cell = trace[f"encoder.views.{place}.rnn.cell"]
            count = int(visit.lengths[place][0])
            if not count or not isinstance(_interface(cell), DNCInterface):
                continue
            origins[place] += [(number, place, step) for step in range(count)]
            for step in range(count):
                gates[number, place, step] = float(_interface(cell).write_gate[step, 0])
            held[place] = _follow(cell, count, held[place])
        if number == len(visits) - 1 and gates and isinstance(decoder, SetDecoder):
            reads = _shares(decoder.read(model.open(encoded)), held, origins)
    return gates, reads


def _interface(cell: CellTrace) -> Any:
    """That of the DNC, behind a cache or not."""
    return cell.interface.memory if isinstance(cell.interface, CachedInterface) else cell.interface


def _weights(cell: CellTrace) -> Tensor:
    state = cell.state.memory if isinstance(cell.state, CachedState) else cell.state
    return state.write_weights


def _follow(cell: CellTrace, count: int, before: Tensor | None) -> Float[Tensor, "N events"]:
    """How much of each event each slot holds after ``count`` more."""
    weights, erase = _weights(cell)[:, 0], _interface(cell).erase[:, 0].mean(-1)
    slots = weights.shape[1]
    held = torch.zeros(slots, 0) if before is None else before
    for step in range(count):
        kept = held * (1 - weights[step] * erase[step]).unsqueeze(1)
        held = torch.cat([kept, weights[step].unsqueeze(1)], dim=1)
    return held


def _shares(state: Any, held: Sequence[Tensor | None], origins: Sequence[list[Place]]) -> dict[Place, float]:
    """What was read, by the events that the slots hold; the shares of all views add up to 1."""
    states = list(state) if len(held) > 1 else [state]
    amounts: dict[Place, float] = {}
    for place, (own, known) in enumerate(zip(states, held, strict=True)):
        if known is None or not hasattr(own, "read_weights"):
            continue
        weights = own.read_weights[0].sum(0)
        slots = len(weights)
        if len(known) > slots:  # early fusion: the slots of this view among those of all
            known = known[place * slots : (place + 1) * slots]
        amounts |= dict(zip(origins[place], (weights @ known).tolist(), strict=True))
    total = sum(amounts.values())
    return {origin: amount / total for origin, amount in amounts.items()} if total > 0 else {}
