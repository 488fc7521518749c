"""Tables that pages about mnemon show, made from its catalogues and from the records in a folder of results."""

from collections.abc import Sequence
from pathlib import Path

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.models.catalogue import MODELS
from mnemon.report.filling import Maker, makers_of_results
from mnemon.report.results import read_results
from mnemon.report.tables import NONE, table
from mnemon.training.files import read_json


def makers(folder: Path) -> dict[str, Maker]:
    """All tables that a page may ask for."""
    return {
        **makers_of_results(folder),
        "models": _models,
        "experiments": lambda _: _experiments(folder),
        "speeds": lambda _: _speeds(folder / "bench.json"),
    }


def _models(_: Sequence[str]) -> str:
    lines = [
        [f"`{name}`", entry.summary, entry.thesis, f"[{entry.file}]({entry.file})"] for name, entry in MODELS.items()
    ]
    return table(["name", "model", "thesis", "file"], lines)


def _experiments(folder: Path) -> str:
    """Every experiment, and how many runs of it are on record."""
    lines = []
    for name, experiment in EXPERIMENTS.items():
        begun = (folder / name / "experiment.json").is_file()
        runs = {run.folder for row in read_results(folder / name).rows for run in row.runs} if begun else set()
        seeds = len({path.name for path in runs})
        finished = f"{len(runs)} runs, {seeds} seeds" if runs else NONE
        lines.append([f"`{name}`", experiment.title, experiment.thesis, finished])
    return table(["`mnemon run`", "experiment", "thesis", "on record"], lines)


def _speeds(path: Path) -> str:
    """A training step of the native engine, and how much longer others take."""
    times: dict[str, dict[str, float]] = {}
    for row in read_json(path)["rows"]:
        times.setdefault(row["workload"], {})[row["engine"]] = row["train_ms"]
    lines = []
    for workload, engines in times.items():
        native, peer = engines["native"], engines.get("dnc (PyPI)")
        lines.append(
            [
                f"`{workload}`",
                f"{native:.0f} ms",
                NONE if peer is None else f"{peer / native:.1f}×",
                f"{engines['reference'] / native:.1f}×",
                f"{engines['nn.LSTM'] / native:.2f}",
            ]
        )
    return table(["workload", "native", "PyPI's `dnc`", "reference", "share of it that `nn.LSTM` alone takes"], lines)
