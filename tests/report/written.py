"""The folder of an experiment, written by hand: a report needs files and nothing else."""

from pathlib import Path

from mnemon.report.description import Description, RowDescription
from mnemon.training.files import write_json
from mnemon.training.record import Record, RecordWriter

MACHINE = {"mnemon": "1.2", "torch": "3.4", "python": "5.6", "cpu": "<abacus>", "cores": 2}


def write_experiment(folder: Path, values: dict[str, list[float | None]], **changes: object) -> Path:
    """An experiment with a setting, a quoted row and, for each model, a run for each value."""
    rows = [
        RowDescription(setting="copy", model="Oracle", folder=None, test=None, thesis=100.0, thesis_parameters=None),
        *(
            RowDescription(
                setting="copy", model=model, folder=f"copy/{model}", test="held out", thesis=50.0, thesis_parameters=7
            )
            for model in values
        ),
    ]
    settings = {
        "metric": "accuracy",
        "percent": True,
        "better": "higher",
        "thesis": "§1",
        "aggregate": "best of 3",
        **changes,
    }
    description = Description(
        experiment="copying",
        title="Copy & paste",
        scale=0.5,
        rows=rows,
        **settings,  # type: ignore[arg-type]
    )
    folder.mkdir(parents=True)
    description.write(folder)
    for model, results in values.items():
        for seed, value in enumerate(results):
            write_run(folder / f"jobs/copy/{model}/seed-{seed}", value)
    return folder


def write_run(folder: Path, value: float | None) -> None:
    folder.mkdir(parents=True)
    writer = RecordWriter(folder / "records.jsonl")
    for step in (10, 20, 30):
        metrics = {"accuracy": (value or 0.0) * step / 30}
        writer.add(Record(kind="train", step=step, loss=1.0, metrics=metrics))
        writer.add(Record(kind="eval", step=step, loss=1.0, metrics=metrics, test="held out"))
    writer.close()
    summary = {
        "metrics": {"held out": {"accuracy": value}},
        "config": {
            "run": {"experiment": "copying", "parameters": {"effective": 1_000, "total": 1_200}},
            "training": {"steps": 30},
        },
        "steps": 30,
        "steps_per_second": 0.5,
        "provenance": MACHINE,
    }
    write_json(folder / "summary.json", summary)
