"""A memory at work, as one page: written to a file, or shown in a notebook.

    with record_trace(model) as trace:
        output, _ = model(inputs)
    view_trace(trace, inputs, output).save(Path("memory.html"))

Letters: ``T`` time, ``B`` batch, ``I`` input channels, ``O`` output channels.
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks.base import Batch, Task
from mnemon.trace import Trace, record_trace
from mnemon.training.batches import answer
from mnemon.training.files import write_atomically
from mnemon.viewer import timeline
from mnemon.viewer.drawings import hop_panel
from mnemon.viewer.page import html_page
from mnemon.viewer.run import RunView
from mnemon.viewer.shown import shown_row, shown_sequence, shown_visits

MOST_BYTES = 1_700_000  # of all numbers in a page, so that it stays below two million
NOTEBOOK_HEIGHT = 900


class View:
    """One run, or several beside each other."""

    def __init__(self, runs: Sequence[RunView]) -> None:
        self.runs = tuple(runs)

    def beside(self, other: "View") -> "View":
        """A view of all runs of both."""
        return View([*self.runs, *other.runs])

    @property
    def title(self) -> str:
        """What the page is called."""
        return " beside ".join(run.title for run in self.runs)

    def html(self) -> str:
        """The whole page."""
        return html_page(self.title, [run.describe(MOST_BYTES // len(self.runs)) for run in self.runs])

    def save(self, path: Path) -> None:
        """Write the page."""
        if not path.parent.is_dir():
            raise UserError(f"there is no folder {path.parent}: make it first, or choose another file")
        write_atomically(path, self.html().encode())

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that it and a notebook leave each other alone."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" title="{escape(self.title)}" sandbox="allow-scripts"'
            f' style="width: 100%; height: {NOTEBOOK_HEIGHT}px; border: 0"></iframe>'
        )


def view_trace(
    trace: Trace,
    inputs: Float[Tensor, "T B I"],
    output: Float[Tensor, "T B O"] | None = None,
    *,
    row: int = 0,
    title: str = "A memory at work",
) -> View:
    """What was recorded while a model read ``inputs``, of one row of the batch; time comes first."""
    if not 0 <= row < inputs.shape[1]:
        raise UserError(
            f"row={row} is outside a batch of {inputs.shape[1]}: write a row from 0 to {inputs.shape[1] - 1}"
        )
    times = timeline.of_steps(len(inputs), {name: len(cell) for name, cell in trace.items()})
    shown = shown_sequence(times, inputs[:, row].detach(), None if output is None else output[:, row].detach())
    return View([RunView(title, [f"{len(inputs)} steps"], shown, times, trace, row)])


@torch.no_grad()
def view_answer(model: nn.Module, task: Task, batch: Batch, *, title: str, facts: Sequence[str] = ()) -> View:
    """What a model does with the first sequence of a task's batch."""
    alone = batch.every(batch.mask.shape[1], 0)
    model.eval()
    with record_trace(model) as trace:
        output = answer(model, alone)
    cells = {name: len(cell) for name, cell in trace.items()}
    if alone.visits is None:
        steps = len(alone.inputs) if alone.lengths is None else int(alone.lengths[0])
        times = timeline.of_steps(steps, cells)
        shown = shown_row(task, alone, 0, output, times)
    else:
        times = timeline.of_visits(alone, 0, cells)
        shown = shown_visits(task, alone, 0, output, times)
        if trace.has_hops:
            shown.panels.append(hop_panel(trace.hops[:, 0], times.views[0]))
    measured = [f"{name.replace('_', ' ')} {number:.3g}" for name, number in task.metrics(output, alone).items()]
    return View([RunView(title, [*facts, f"{times.steps} steps", *measured], shown, times, trace, 0)])
