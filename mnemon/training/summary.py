"""The summary of a complete run: its result, and what is needed to repeat it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemon.training.files import write_json
from mnemon.training.record import Record, json_number
from mnemon.training.versions import provenance


@dataclass(frozen=True, kw_only=True)
class TrainResult:
    """What a complete run came to."""

    steps: int
    loss: float  # mean training loss over the last steps
    metrics: dict[str, dict[str, float]]  # by held-out setting, then by name
    parameters: int  # numbers that were learned
    checkpoint: Path  # the final weights


def final_rows(records: Sequence[Record], steps: int) -> tuple[float, dict[str, dict[str, float]]]:
    """The training loss and the metrics of each held-out setting that the records have for the last step."""
    last = [record for record in records if record.step == steps]
    loss = next(record.loss for record in last if record.kind == "train")
    return loss, {record.test: record.metrics for record in last if record.test is not None}


def write_summary(
    path: Path,
    *,
    config: Mapping[str, Any],
    result: TrainResult,
    seconds: float,
    resumed_from: int,
    command: Sequence[str],
) -> None:
    """Times are those of the last sitting, from ``resumed_from`` on: what a killed one took is not known."""
    steps = result.steps - resumed_from
    write_json(
        path,
        {
            "config": dict(config),
            "seed": config["training"]["seed"],
            "steps": result.steps,
            "loss": json_number(result.loss),
            "metrics": {
                test: {name: json_number(value) for name, value in metrics.items()}
                for test, metrics in result.metrics.items()
            },
            "parameters": result.parameters,
            "resumed_from": resumed_from,
            "seconds": round(seconds, 3),
            "steps_per_second": round(steps / seconds, 3) if steps else None,
            "command": list(command),
            "provenance": provenance(),
        },
    )
