"""``mnemon view``: a page on which a trained memory can be watched at work."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro

from mnemon.commands.folders import data_folder
from mnemon.commands.runs import OpenedRun
from mnemon.errors import UserError, look_up
from mnemon.memory.base import check_sizes
from mnemon.tasks.base import Batch, Task
from mnemon.tasks.catalogue import TaskEntry, find_task
from mnemon.training.batches import draw
from mnemon.training.seeding import batch_seed, seed_noise
from mnemon.viewer import View, view_answer

DRAWS = 16  # sequences of a task to choose a length from


@dataclass(frozen=True, kw_only=True)
class ViewRun:
    """Watch a trained memory at work: one HTML page that needs no server and no network.

    It shows a held-out sequence: inputs, targets and predictions, where the memory is written and read, what is in it,
    its gates and what else there is. With two runs they are beside each other, on the same sequence where they were
    trained on the same task.

    Example: mnemon view runs/copy-ntm-0
    Two runs: mnemon view runs/copy-ntm-0 runs/copy-nutm-0 --test "length 20"
    """

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN [OTHER]")]
    """Folder of a run, written by mnemon train, or of two."""
    out: Path | None = None
    """The page; view.html in the folder of the first run by default."""
    test: str | None = None
    """Take the sequence from this test of the task; by default from what it trains on."""
    length: int | None = None
    """Take the first sequence of at least so many steps; by default the longest of several."""
    sequence: int | None = None
    """Take the sequence of this number, from 0 on, in place of one by its length."""
    seed: int = 0
    """Another seed gives other sequences."""
    data: Path | None = None
    """Folder of the data sets, for tasks that need one; $MNEMON_DATA by default."""
    threads: int = 1
    """Threads of torch."""

    def run(self) -> None:
        """Run the models on a sequence, and write the page."""
        check_sizes(threads=self.threads)
        self._check()
        torch.set_num_threads(self.threads)
        views = [self._view(OpenedRun.open(folder)) for folder in self.folders]
        whole = views[0] if len(views) == 1 else views[0].beside(views[1])
        out = self.out or self.folders[0] / "view.html"
        whole.save(out)
        print(f"wrote {out}: open it in a browser", file=sys.stderr)

    def _check(self) -> None:
        if not 1 <= len(self.folders) <= 2:
            raise UserError(f"a page shows one run or two, not {len(self.folders)}: write one folder or two")
        if self.length is not None and self.sequence is not None:
            raise UserError("a sequence is chosen by its number or by its length: leave out --sequence or --length")
        if self.sequence is not None and self.sequence < 0:
            raise UserError(f"sequences count from 0: write --sequence 0 or more, not {self.sequence}")
        if self.length is not None:
            check_sizes(length=self.length)

    def _view(self, run: OpenedRun) -> View:
        entry = find_task(run.task, data_folder(self.data))
        model, step = run.build(entry.train.input_size, entry.train.output_size)
        task, batch = self._choose(entry)
        seed_noise(self.seed, "view", 0)  # for models that draw
        writing = "" if run.config.writing == "regular" else f", {run.config.writing} writing"
        title = f"{run.config.name}{writing} on {run.task}"
        return view_answer(model, task, batch, title=title, facts=[f"trained for {step:,} steps"])

    def _choose(self, entry: TaskEntry) -> tuple[Task, Batch]:
        tasks = [entry.train] if self.test is None else [look_up(entry.tests, self.test, "test")]
        if self.sequence is not None:
            return tasks[0], _sequence(tasks[0], self.seed, self.sequence)
        if self.length is None:
            return tasks[0], max(self._draws(tasks[0]), key=steps_of)
        if self.test is None:
            tasks += entry.tests.values()
        longest = 0
        for task in tasks:
            for batch in self._draws(task):
                if steps_of(batch) >= self.length:
                    return task, batch
                longest = max(longest, steps_of(batch))
        raise UserError(f"there is no sequence of {self.length} steps: write --length {longest} or less")

    def _draws(self, task: Task) -> Iterator[Batch]:
        return (_sequence(task, self.seed, number) for number in range(DRAWS))


def _sequence(task: Task, seed: int, number: int) -> Batch:
    return draw(task, 1, batch_seed(seed, "view", number), torch.device("cpu"))


def steps_of(batch: Batch) -> int:
    """How many steps the only sequence of a batch takes, to be read and to be answered."""
    if batch.visits is None:
        return len(batch.inputs) if batch.lengths is None else int(batch.lengths[0])
    return len(batch.mask) + sum(int(max(visit.lengths)) for visit in batch.visits)
