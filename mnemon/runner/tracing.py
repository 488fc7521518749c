"""What a trained memory does with one sequence, left as JSON for heat maps.

``{"title", "arrays": [{"name", "rows", "columns", "values"}]}``: each array is one picture, time down.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mnemon.tasks.base import Task
from mnemon.trace import record_trace
from mnemon.training.batches import answer, draw
from mnemon.training.files import write_json
from mnemon.training.seeding import batch_seed

TRACES = "traces.json"
DIGITS = 3


def write_traces(path: Path, model: nn.Module, task: Task, seed: int) -> None:
    """Run one held-out sequence through the model and write its weightings and its write gate."""
    batch = draw(task, 1, batch_seed(seed, "trace", 0), torch.device("cpu"))
    model.eval()
    with torch.no_grad(), record_trace(model) as trace:
        answer(model, batch)
    arrays = [
        *_weightings("write", trace.state.write_weights),
        *_weightings("read", trace.state.read_weights),
    ]
    if hasattr(trace.interface, "write_gate"):
        arrays.append(_array("write gate", "gate", trace.interface.write_gate[:, 0].reshape(len(batch.inputs), -1)))
    write_json(path, {"title": "one held-out sequence", "arrays": arrays})


def _weightings(kind: str, weights: Tensor) -> list[dict[str, Any]]:
    """Each head's weights over the slots, from (T, B, heads, N), or (T, B, N) where there is one head."""
    row = weights[:, 0]
    heads = row.unsqueeze(1) if row.dim() == 2 else row
    return [_array(f"{kind} weights, head {head + 1}", "slot", heads[:, head]) for head in range(heads.shape[1])]


def _array(name: str, columns: str, values: Tensor) -> dict[str, Any]:
    rounded = [[round(value, DIGITS) for value in row] for row in values.tolist()]
    return {"name": name, "rows": "timestep", "columns": columns, "values": rounded}
