"""What a trained model does with held-out sequences, left as JSON for pictures and a table.

title       of the pictures
arrays      one picture each, time down, of one sequence: the weights of each head, the strengths of a stack's rows,
            the write gate, the programs of each store and, where a task asks for bits, input, target and answer, with
            those that are ``wrong``
spans       the phases of that sequence, and the step at which each begins
states      the controller's states c_t in several sequences, on their first two principal components; a point is
            [first, second, phase, how far into its sequence]
measures    ``silhouette``, how well the phases part in all numbers of the states, and ``silhouette_untrained``, how
            well they did before the model had learnt anything: nothing is shown while an answer is asked; of a
            sequence of tokens also what is left of them when they have all been shown (:func:`_kept`)
right       of tokens: how often each place of the answer has the right one

No sequence is chosen: they are the first of a stream of their own. The thesis shows its best ones and some failures.

Letters: ``K`` states, ``H`` hidden.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.models.profiles import measure_profiles, steps_shown
from mnemon.tasks.answering import AnsweringTask
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.ngrams import DynamicNGrams
from mnemon.tasks.phases import phases
from mnemon.tasks.scoring import wrong_bits, wrong_classes
from mnemon.tasks.tokens import TokenTask
from mnemon.theory.clusters import principal_components, silhouette
from mnemon.trace import Trace, record_trace
from mnemon.training.batches import answer, draw
from mnemon.training.files import write_atomically
from mnemon.training.record import json_number
from mnemon.training.seeding import batch_seed

SEQUENCES = 4  # whose states are kept
PROFILED = 16  # sequences whose contributions are averaged
ANSWERED = 256  # sequences whose answers are counted
PROBES = 32  # random directions for each of them
POINTS = 400  # at most, of all of them
DIGITS = 2  # of what is drawn in shades
DIGITS_OF_POINTS = 3


class Watched(NamedTuple):
    """A sequence, what came of it, and what went on inside."""

    batch: Batch
    output: Tensor
    trace: Trace
    phases: list[str]


def write_traces(path: Path, model: nn.Module, task: Task, seed: int, *, untrained: nn.Module) -> None:
    """Run held-out sequences through the model, one by one, and write what it did."""
    watched, before = (
        [_watch(each, task, batch_seed(seed, "trace", number)) for number in range(SEQUENCES)]
        for each in (model, untrained)
    )
    document: dict[str, Any] = {
        "title": "one held-out sequence",
        "arrays": _arrays(task, watched[0]),
        "spans": _spans(watched[0].phases),
        "states": _projected(watched),
        "measures": {
            "silhouette": _silhouette(watched),
            "silhouette_untrained": _silhouette(before),
        },
    }
    if isinstance(task, TokenTask):
        document["measures"] |= _kept(model, task, seed)
        document["right"] = _right(model, task, seed)
    write_atomically(path, json.dumps(document, separators=(",", ":"), allow_nan=False).encode())


def _kept(model: nn.Module, task: TokenTask, seed: int) -> dict[str, float]:
    """λ and the average contribution to each state and to the answer, also as a share of a fresh token's (§6.3.1)."""
    inputs = draw(task, PROFILED, batch_seed(seed, "profile", 0), torch.device("cpu")).inputs
    return {
        f"{measure}_{row['of'].replace(' ', '_')}": row[name]
        for row in measure_profiles(model.eval(), inputs, shown=steps_shown(inputs), probes=PROBES)
        for measure, name in (("lambda", "lambda_sum"), ("kept", "share"), ("average", "average"))
    }


def _right(model: nn.Module, task: TokenTask, seed: int) -> list[float | int]:
    batch = draw(task, ANSWERED, batch_seed(seed, "right", 0), torch.device("cpu"))
    with torch.no_grad():
        wrong = wrong_classes(answer(model.eval(), batch), batch)
    asked = batch.mask.bool().all(1)
    return [_short(round(1 - share, DIGITS)) for share in wrong[asked].float().mean(1).tolist()]


def _watch(model: nn.Module, task: Task, seed: int) -> Watched:
    batch = draw(task, 1, seed, torch.device("cpu"))
    model.eval()
    with torch.no_grad(), record_trace(model) as trace:
        output = answer(model, batch)
    return Watched(batch, output, trace, phases(task, batch))


def _arrays(task: Task, watched: Watched) -> list[dict[str, Any]]:
    batch, output, trace, _ = watched
    arrays = _bits(batch, output) if isinstance(task, AnsweringTask | DynamicNGrams) else []
    if "write_weights" not in trace.state._fields:  # no memory
        return arrays
    writes, reads = _heads(trace.state.write_weights), _heads(trace.state.read_weights)
    arrays += _numbered("write weights, head", "slot", writes) + _numbered("read weights, head", "slot", reads)
    if "strengths" in trace.state._fields:  # of the rows of a stack
        arrays.append(array("strengths", "slot", trace.state.strengths[:, 0]))
    if hasattr(trace.interface, "write_gate"):
        arrays.append(array("write gate", "gate", trace.interface.write_gate[:, 0].reshape(len(output), -1)))
    if trace.has_programs:
        stores = trace.programs[:, 0].unbind(1)
        if len(stores) == len(reads) + len(writes):  # each head has its own, read heads first
            arrays += _numbered("programs, read head", "program", stores[: len(reads)])
            arrays += _numbered("programs, write head", "program", stores[len(reads) :])
        else:
            arrays += _numbered("programs, store", "program", stores)
    return arrays


def _bits(batch: Batch, output: Tensor) -> list[dict[str, Any]]:
    """What was shown, asked and answered, the last two blank where nothing is asked."""
    asked = batch.mask[:, 0].unsqueeze(1)
    wrong = wrong_bits(output, batch)[:, 0].int().tolist()
    return [
        array("input", "channel", batch.inputs[:, 0]),
        array("target", "channel", batch.targets[:, 0] * asked),
        array("answer", "channel", (output[:, 0] > 0) * asked) | {"wrong": wrong},
    ]


def _heads(weights: Tensor) -> tuple[Tensor, ...]:
    """Each head's weights over the slots, from (T, B, heads, N), or (T, B, N) where there is one head."""
    row = weights[:, 0]
    return (row,) if row.dim() == 2 else row.unbind(1)


def _numbered(name: str, columns: str, parts: Sequence[Tensor]) -> list[dict[str, Any]]:
    return [array(f"{name} {number}", columns, part) for number, part in enumerate(parts, start=1)]


def array(name: str, columns: str, values: Tensor) -> dict[str, Any]:
    """Numbers to be drawn in shades, time down."""
    return {"name": name, "rows": "timestep", "columns": columns, "values": rounded(values, DIGITS)}


def _spans(names: list[str]) -> list[dict[str, Any]]:
    starts = [step for step, name in enumerate(names) if step == 0 or name != names[step - 1]]
    return [{"name": names[step], "start": step} for step in starts]


def _projected(watched: Sequence[Watched]) -> dict[str, Any]:
    """The states on two components, thinned out evenly."""
    kinds, labels = _labels(watched)
    times = torch.cat([torch.linspace(0, 1, len(each.phases)) for each in watched])
    projected, shares = principal_components(_states(watched))
    points = torch.cat([projected, torch.stack([labels, times], dim=1)], dim=1)
    every = -(-len(points) // POINTS)
    return {
        "phases": kinds,
        "shares": shares.tolist(),  # of the variance
        "points": rounded(points[::every], DIGITS_OF_POINTS),
    }


def _silhouette(watched: Sequence[Watched]) -> float | None:
    return json_number(silhouette(_states(watched), _labels(watched)[1]))


def _states(watched: Sequence[Watched]) -> Float[Tensor, "K H"]:
    return torch.cat([each.trace.controller.hidden[:, 0] for each in watched])


def _labels(watched: Sequence[Watched]) -> tuple[list[str], Int[Tensor, "K"]]:
    """The phases there are, and the number of that which each state is of."""
    names = [name for each in watched for name in each.phases]
    kinds = sorted(set(names), key=names.index)
    return kinds, torch.tensor([kinds.index(name) for name in names])


def rounded(values: Tensor, digits: int) -> list[list[float | int]]:
    """Numbers that are short to write, 0 and 1 shortest of all."""
    return [[_short(round(value, digits)) for value in row] for row in values.tolist()]


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() else value
