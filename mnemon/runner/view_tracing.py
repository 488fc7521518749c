"""What a trained encoder-decoder does with held-out sequences (thesis, Figures 4.5 and 4.8, 4.9), left as JSON.

arrays      of the first sequence, time down: the read modes and the write gate of each memory while encoding, and its
            read modes while decoding
measures    ``encode_backward``, ``encode_content``, ``encode_forward``, and likewise ``decode_…``: the share of each
            read mode, over all heads, memories and steps of all sequences; ``write_gate``, its mean while encoding

No sequence is chosen: they are the first of a stream of their own.

Letters: ``T`` steps, ``B`` batch, ``R`` read heads.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from mnemon.memory.dnc import DNCInterface
from mnemon.memory.joined import Joined
from mnemon.memory.write_cache import CachedInterface
from mnemon.runner.tracing import array
from mnemon.tasks.base import Batch, Task
from mnemon.trace import record_trace
from mnemon.training.batches import answer, draw
from mnemon.training.files import write_atomically
from mnemon.training.seeding import batch_seed

SEQUENCES = 64
MODES = ("backward", "content", "forward")


class Watched(NamedTuple):
    """A memory while it was encoding or decoding."""

    phase: str
    name: str
    interface: DNCInterface  # of all steps, each part T B …
    active: Bool[Tensor, "T B"]


def write_view_traces(path: Path, model: nn.Module, task: Task, seed: int) -> None:
    """Run held-out sequences through the model, and write what its memories did."""
    watched = _watch(model, draw(task, SEQUENCES, batch_seed(seed, "trace", 0), torch.device("cpu")))
    document = {
        "title": "one held-out sequence",
        "arrays": [entry for each in watched for entry in _arrays(each)],
        "measures": _measures(watched),
    }
    write_atomically(path, json.dumps(document, separators=(",", ":"), allow_nan=False).encode())


def _watch(model: nn.Module, batch: Batch) -> list[Watched]:
    assert batch.visits is not None
    model.eval()
    first = batch._replace(visits=batch.visits[:1], mask=batch.mask[: len(batch.mask) // len(batch.visits)])
    with torch.no_grad(), record_trace(model) as trace:
        answer(model, first._replace(targets=batch.targets[: len(first.mask)]))
    found = []
    for name, cell in trace.items():
        if not len(cell):
            continue
        encoding = "encoder" in name
        view = int(name.split("views.")[1].split(".")[0]) if encoding else 0
        length = len(cell)
        active = first.mask[:length] > 0
        if encoding:
            active = torch.arange(length).unsqueeze(1) < batch.visits[0].lengths[view]
        for number, interface in enumerate(_interfaces(cell.interface), start=view + 1):
            found.append(Watched("encode" if encoding else "decode", f"view {number}", interface, active))
    return found


def _interfaces(interface: Any) -> list[DNCInterface]:
    """Those of the DNCs in a memory."""
    if isinstance(interface, Joined):
        return [found for each in interface for found in _interfaces(each)]
    if isinstance(interface, CachedInterface):
        return [interface.memory]
    return [interface] if isinstance(interface, DNCInterface) else []


def _arrays(watched: Watched) -> list[dict[str, Any]]:
    steps = int(watched.active[:, 0].sum())
    modes = watched.interface.read_modes[:steps, 0].mean(1)
    arrays = [array(f"{watched.phase}, {watched.name}, read modes", "mode", modes)]
    if watched.phase == "encode":
        gate = watched.interface.write_gate[:steps, :1]
        arrays.append(array(f"{watched.phase}, {watched.name}, write gate", "gate", gate))
    return arrays


def _measures(watched: list[Watched]) -> dict[str, float]:
    measures: dict[str, float] = {}
    for phase in ("encode", "decode"):
        modes = [each.interface.read_modes[each.active].mean((0, 1)) for each in watched if each.phase == phase]
        if modes and modes[0].numel():
            means = torch.stack(modes).mean(0).tolist()
            measures |= {f"{phase}_{mode}": mean for mode, mean in zip(MODES, means, strict=True)}
    gates = [each.interface.write_gate[each.active].mean() for each in watched if each.phase == "encode"]
    if gates:
        measures["write_gate"] = float(torch.stack(gates).mean())
    return measures
