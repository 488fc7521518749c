"""Tables that pages about mnemon show, made from its catalogues and from the records in a folder of results."""

from collections.abc import Sequence
from pathlib import Path

from mnemon.experiments.catalogue import EXPERIMENTS
from mnemon.models.catalogue import MODELS
from mnemon.report.agreement import agreement
from mnemon.report.filling import Maker, makers_of_results
from mnemon.report.results import Results, read_results
from mnemon.report.tables import NONE, table
from mnemon.training.files import read_json


def makers(folder: Path) -> dict[str, Maker]:
    """All tables that a page may ask for."""
    return {
        **makers_of_results(folder),
        "models": _models,
        "experiments": lambda _: _experiments(folder),
        "speeds": lambda _: _speeds(folder / "bench.json"),
        "variants": lambda wanted: _variants(folder / "bench.json", wanted),
        "processes": lambda _: _processes(folder / "processes.json"),
    }


def _models(_: Sequence[str]) -> str:
    lines = [
        [f"`{name}`", entry.summary, entry.thesis, f"[{entry.file}]({entry.file})"] for name, entry in MODELS.items()
    ]
    return table(["name", "model", "thesis", "file"], lines)


def _experiments(folder: Path) -> str:
    """Every experiment, how many runs of it are on record, and how far these agree with the thesis."""
    lines = []
    for name, experiment in EXPERIMENTS.items():
        begun = (folder / name / "experiment.json").is_file()
        found = _found(read_results(folder / name)) if begun else (NONE, NONE)
        lines.append([f"`{name}`", experiment.title, experiment.thesis, *found])
    return table(["`mnemon run`", "experiment", "thesis", "on record", "as good as the thesis"], lines)


def _found(results: Results) -> tuple[str, str]:
    runs = {run.folder for row in results.rows for run in row.runs}
    scale = results.description.scale
    shortened = "" if scale == 1 else f", {scale:.0%} of the steps"
    finished = f"{_counted(len(runs), 'run')}, {_counted(len(results.seeds), 'seed')}{shortened}" if runs else NONE
    return finished, agreement(results).brief or NONE


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


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


def _variants(path: Path, wanted: Sequence[str]) -> str:
    """A training step of cells that differ in one part, as a share of the plain one's; those with these words."""
    times: dict[str, dict[str, tuple[float, float]]] = {}
    for row in read_json(path)["variants"]:
        times.setdefault(row["workload"], {})[row["variant"]] = row["train_ms"], row["share"]
    names = [name for name in next(iter(times.values())) if name != "plain" and all(word in name for word in wanted)]
    lines = [
        [f"`{workload}`", f"{found['plain'][0]:.0f} ms", *(f"{found[name][1]:.2f}" for name in names)]
        for workload, found in times.items()
    ]
    return table(["workload", "plain", *names], lines)


def _processes(path: Path) -> str:
    """Two processes beside one; nothing before that has been measured."""
    if not path.is_file():
        return ""
    record = read_json(path)
    size = f"{record['parameters']:,}"
    lines = []
    for measured in record["batches"]:
        rates = [f"{row['sequences_per_second']:.0f}" for row in measured["rows"]]
        lines.append(
            [size, str(measured["batch"]), *rates, f"{measured['ratio']:.2f}×", f"{measured['ratio_spread']:.0%}"]
        )
    return table(["parameters", "batch", "one process", "two processes", "ratio", "spread of the ratio"], lines)
