"""``mnemon profile``: how much of each input a trained model keeps, and what size of memory follows from it.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``S`` numbers of the observed state.
"""

import dataclasses
import importlib.util
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.commands.console import table_console
from mnemon.commands.runs import OpenedRun
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.models.profiles import measure_profiles, steps_shown
from mnemon.rnn import MANN
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.catalogue import TaskEntry, find_task
from mnemon.theory import sizing
from mnemon.training.files import write_atomically
from mnemon.training.seeding import batch_seed, generator_from
from mnemon.training.versions import provenance

DRAWS = 8  # batches of a task to choose a length from


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Measure what each input contributes to the state a trained model ends with, and size a memory by it.

    The table has λ, the share that is left of a contribution after one more step, fitted in two ways, and what writing
    uniformly would keep beside what regular writing keeps, for memories of several sizes.

    Example: mnemon profile runs/copy-ntm-0 --plot profile.png
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of a run, written by mnemon train."""
    length: int | None = None
    """Steps of the sequences, T; by default the longest that the task trains on, up to where it asks for an answer."""
    samples: int = 16
    """Sequences to average over."""
    target: float = 0.9
    """Share of a fresh input's contribution that the advised memory should keep."""
    seed: int = 0
    """Another seed gives other sequences."""
    plot: Path | None = None
    """Also draw the profile into this PNG file."""
    threads: int = 1
    """Threads of torch."""
    json: bool = False
    """Print one JSON document instead of tables."""

    def run(self) -> None:
        """Measure, draw and print."""
        check_sizes(samples=self.samples, threads=self.threads)
        if self.plot is not None:
            _check_plot(self.plot)
        torch.set_num_threads(self.threads)
        run = OpenedRun.open(self.folder)
        entry = find_task(run.task)
        model, step = run.build(entry.train.input_size, entry.train.output_size)
        inputs = _sequences(entry, self.length, self.samples, self.seed)
        length = len(inputs) if self.length is not None else steps_shown(inputs)
        rows = measure_profiles(model, inputs, shown=length)
        decay = rows[0]["lambda_sum"]
        advice = sizing.recommend(decay, length, self.target)
        document = {
            "run": str(self.folder),
            "task": run.task,
            "model": dataclasses.asdict(run.config),
            "step": step,
            "length": length,
            "samples": self.samples,
            "profiles": rows,
            "prediction": {"lambda": decay, "rows": _predictions(decay, length, model)},
            "recommended": {"target": self.target, **advice._asdict()},
            "provenance": provenance(),
        }
        if self.plot is not None:
            write_atomically(self.plot, _draw(document))
        if self.json:
            print(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            _print_tables(document)


def _sequences(entry: TaskEntry, length: int | None, samples: int, seed: int) -> Float[Tensor, "T B I"]:
    """Inputs of the task: the longest it trains on, or the first that are long enough, cut to the length."""
    if length is not None and length < 2:
        raise UserError(f"length must be at least 2 steps, or there is no decay to see; got {length}")
    generator = generator_from(batch_seed(seed, "profile", 0))
    if length is None:
        batch = max(_draws(entry.train, samples, generator), key=_steps)
        return batch.inputs[: _steps(batch)]
    longest = 0
    for task in (entry.train, *entry.tests.values()):
        for batch in _draws(task, samples, generator):
            if _steps(batch) >= length:
                return batch.inputs[:length]
            longest = max(longest, _steps(batch))
    raise UserError(f"the task gives no sequences of {length} steps: write --length {longest} or less")


def _draws(task: Task, samples: int, generator: torch.Generator) -> Iterator[Batch]:
    return (task.sample(samples, generator) for _ in range(DRAWS))


def _steps(batch: Batch) -> int:
    """How many steps all rows of a batch have."""
    return len(batch.inputs) if batch.lengths is None else int(batch.lengths.min())


def _predictions(decay: float, length: int, model: nn.Module) -> list[dict[str, Any]]:
    """I_λ of regular and of uniform writing, for memories of 1, 2, 4, … slots and of the model's own size."""
    sizes = {2**power for power in range(length.bit_length()) if 2**power < length}
    own = {model.cell.memory.slots} if isinstance(model, MANN) else set()
    rows = []
    for slots in sorted({0} | sizes | own):
        regular = sizing.average_contribution(decay, sizing.regular_intervals(length, slots))
        uniform = sizing.uniform_contribution(decay, length, slots)
        interval = length / min(slots + 1, length)
        gain = uniform / regular
        rows.append({"slots": slots, "interval": interval, "regular": regular, "uniform": uniform, "gain": gain})
    return rows


def _print_tables(document: dict[str, Any]) -> None:
    from rich.table import Table

    title = f"{document['model']['name']} on {document['task']}, step {document['step']:,}: "
    sample = f"{document['length']} steps, {document['samples']} sequences"
    measured = Table(title=title + sample, title_justify="left")
    measured.add_column("kept in", no_wrap=True)
    for column in ("λ (sum)", "R²", "λ (slope)", "R²", "least λ_c", "average", "share"):
        measured.add_column(column, justify="right")
    for row in document["profiles"]:
        fits = (f"{row[name]:.3f}" for name in ("lambda_sum", "r2_sum", "lambda_slope", "r2_slope"))
        bound = "∞" if row["premise_bound"] is None else f"{row['premise_bound']:.3g}"
        measured.add_row(row["of"], *fits, bound, f"{row['average']:.3g}", f"{row['share']:.1%}")
    prediction = document["prediction"]
    predicted = Table(title=f"predicted average contribution, λ = {prediction['lambda']:.3f}", title_justify="left")
    for column in ("slots", "write every", "regular writing", "uniform writing", "gain"):
        predicted.add_column(column, justify="right")
    for row in prediction["rows"]:
        shares = (f"{row[name]:.1%}" for name in ("regular", "uniform"))
        predicted.add_row(str(row["slots"]), f"{row['interval']:.1f}", *shares, f"{row['gain']:.2f}×")
    console = table_console()
    console.print(measured)
    console.print(predicted)
    console.print(_advice(document["recommended"]), highlight=False)


def _advice(recommended: dict[str, Any]) -> str:
    share = f"{recommended['contribution']:.1%} (target {recommended['target']:.0%})"
    if recommended["slots"] == 0:
        return f"No memory is needed: the controller alone keeps {share}."
    return f"Advised: {recommended['slots']} slots, written every {recommended['interval']:.1f} steps, keep {share}."


def _check_plot(path: Path) -> None:
    if path.suffix != ".png":
        raise UserError(f"the plot is a PNG file: write --plot {path.with_suffix('.png')}")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent}: make it, or write another --plot")
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("a plot needs matplotlib: pip install 'mnemon[viz]'")


def _draw(document: dict[str, Any]) -> bytes:
    """The profiles on a logarithmic axis; theorem 1's curve as a dashed line."""
    from matplotlib.figure import Figure  # not pyplot, which would look for a screen

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    ages = range(document["length"])
    for row in document["profiles"]:
        profile = [part if part > 0 else math.nan for part in reversed(row["contributions"])]
        (line,) = axes.plot(ages, profile, marker=".", label=f"{row['of']}, λ = {row['lambda_sum']:.3f}")
        fitted = [profile[0] * row["lambda_sum"] ** age or math.nan for age in ages]
        axes.plot(ages, fitted, linestyle="--", linewidth=1, color=line.get_color())
    axes.set_yscale("log")
    axes.set_xlabel("age of the input, T − t")
    axes.set_ylabel("contribution ‖∂h_T/∂x_t‖")
    axes.set_title(f"{document['model']['name']} on {document['task']}, step {document['step']:,}")
    axes.legend()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return image.getvalue()
