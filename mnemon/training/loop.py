"""The training loop.

A run that was killed, interrupted or stopped, and then resumed, ends with the records and the weights of one that ran
through: every step depends on the weights, the optimiser's memory and the step's number alone, and what the next row of
the records has gathered so far is part of each checkpoint. Whether to stop early follows from the records.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.tasks.base import Batch, ChangingTask, Task, WordTask
from mnemon.training import checkpoint
from mnemon.training.batches import ChangingModel, answer, answer_with_losses, draw
from mnemon.training.board import TensorBoard
from mnemon.training.config import TrainConfig
from mnemon.training.directory import CHANGING, RunDirectory, refuse_differences
from mnemon.training.evaluation import evaluate
from mnemon.training.files import write_json
from mnemon.training.health import TrainingStopped, offender, spoilt_parameter
from mnemon.training.interrupt import Interrupted, StopRequest
from mnemon.training.journal import Journal
from mnemon.training.optimiser import clip, gradient_norm, make_optimiser, set_learning_rate
from mnemon.training.patience import Patience
from mnemon.training.processes import (
    add_up,
    make_accelerator,
    mean_over_processes,
    own_rows,
    refuse_strangers,
    rows_of_all,
    share_of_loss,
    wait_for_all,
)
from mnemon.training.progress import Progress, SilentProgress, make_progress
from mnemon.training.record import Record, write_records
from mnemon.training.seeding import batch_seed, seed_noise
from mnemon.training.summary import TrainResult, final_rows, write_summary

DAMAGED = ".damaged"  # what the names of files end with that were set aside


def train(
    model: nn.Module,
    task: Task,
    tests: Mapping[str, Task],
    config: TrainConfig,
    out: Path,
    *,
    resume: bool = False,
    run: Mapping[str, Any] | None = None,
    command: Sequence[str] = (),
    progress: Progress | None = None,
    patience: float = 0.0,
) -> TrainResult:
    """Train ``model`` on ``task``, measure it on ``tests``, and keep all of it in the folder ``out``.

    ``run`` is what the caller needs to build model and tasks again, as JSON; it is kept with the run, and a resumed run
    must come with the same. ``command`` is for people: how to repeat the run. Another process in the folder is waited
    for, ``patience`` seconds. Raises :class:`Interrupted` after Ctrl-C and :class:`TrainingStopped` at a number that is
    not finite.
    """
    training = _Training(model, task, tests, config, out, run or {})
    with training.directory.owned(patience) if training.is_main else nullcontext():
        return _carry_out(training, resume, command, make_progress() if progress is None else progress)


def _carry_out(training: "_Training", resume: bool, command: Sequence[str], progress: Progress) -> TrainResult:
    training.open(resume)
    first, began = training.done, time.perf_counter()
    training.go(progress)
    loss, metrics = final_rows(training.rows, training.done)
    result = TrainResult(
        steps=training.done,
        loss=loss,
        metrics=metrics,
        parameters=sum(parameter.numel() for parameter in training.parameters),
        checkpoint=training.directory.checkpoints / checkpoint.file_name(training.done),
    )
    if training.is_main and not training.directory.summary.exists():
        write_summary(
            training.directory.summary,
            config=training.described,
            result=result,
            seconds=time.perf_counter() - began,
            resumed_from=first,
            command=command,
        )
    return result


class _Step(NamedTuple):
    """What a step leaves behind for the records."""

    number: int
    batch: Batch  # that of all processes
    output: Tensor  # the answer to the rows of this one
    loss: float
    stopping: bool  # a signal came, to this process or to another


class _Training:
    """A run between its first step and its last."""

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        tests: Mapping[str, Task],
        config: TrainConfig,
        out: Path,
        run: Mapping[str, Any],
    ) -> None:
        if config.patience is not None and not tests:
            raise UserError(f"training setting 'patience' is {config.patience}: give a test to watch, or write None")
        self.accelerator = make_accelerator(config.batch_size)
        self.is_main = self.accelerator.is_main_process  # the one process that writes
        self.model = model.to(self.accelerator.device)
        self.kept = task.kept() if isinstance(task, WordTask) else None
        self.task_at: Callable[[int], Task]  # by the number of the step
        self.tests = tests
        self.config = config
        self.directory = RunDirectory(out)
        self.described: dict[str, Any] = {"training": config.to_json(), "tests": list(tests), "run": dict(run)}
        if isinstance(task, ChangingTask) or isinstance(model, ChangingModel):
            self.described[CHANGING] = True
        if isinstance(task, ChangingTask):
            self.task_at = lambda number: task.at(number, config.steps)
        else:
            self.task_at = lambda _: task
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimiser = make_optimiser(config, self.parameters)
        self.patience = Patience(config.patience)
        self.done = 0
        self.rows: list[Record] = []  # all that was measured so far
        self.saved: Path | None = None  # the last checkpoint
        # Since the last row of the records:
        self.loss_sum = 0.0
        self.loss_steps = 0

    def open(self, resume: bool) -> None:
        """Take the folder, or refuse it and leave everything as it was."""
        if self.is_main:
            self._take(resume)
        wait_for_all(self.accelerator)  # damaged checkpoints are set aside by now
        if resume and not self.is_main:
            self._restore()
        refuse_strangers(self.accelerator, self.described, self.model, self.done)

    def _take(self, resume: bool) -> None:
        if resume:
            self.directory.check_resumable(self.described, self.kept)
            self._restore()
        else:
            self.directory.check_free()
        self.directory.claim(self.described)
        if self.kept is not None:
            write_json(self.directory.task, self.kept)
        if not self._complete:
            self.directory.summary.unlink(missing_ok=True)  # of the run that is being extended
        write_records(self.directory.records, self.rows)

    def go(self, progress: Progress) -> None:
        """Take all steps that are left."""
        if self._complete:
            return
        self.model.train()
        with StopRequest() as stop, self._journal(progress) as journal:
            for number in range(self.done + 1, self.config.steps + 1):
                step = self._take_step(number, stop)
                self.done = number
                journal.step(number, step.loss)
                self._measure(step, journal)
                last = self._complete
                if last or step.stopping or number % self.config.checkpoint_every == 0:
                    self._save(number, journal)
                if step.stopping and not last:
                    raise Interrupted(
                        f"interrupted at step {number} of {self.config.steps}: saved {self.saved};"
                        " run the same command with --resume to go on"
                    )
                if last:
                    break
        wait_for_all(self.accelerator)  # before any process reads what the main one wrote

    def _take_step(self, number: int, stop: StopRequest) -> _Step:
        """Batch, answer, loss, gradients, and a step of the optimiser if all of these are finite."""
        seed = batch_seed(self.config.seed, "train", number)
        whole = draw(self.task_at(number), self.config.batch_size, seed, self.accelerator.device)
        if self.config.samples is not None:
            whole = whole.repeat(self.config.samples)
        batch = own_rows(self.accelerator, whole)
        seed_noise(self.config.seed, f"train {self.accelerator.process_index}", number)
        self.optimiser.zero_grad()
        if isinstance(self.model, ChangingModel):
            self.model.begin_step(number, self.config.steps)
        output, loss = self._answer(batch, number)
        if self.accelerator.num_processes > 1:
            loss = share_of_loss(loss, output, batch, whole)
        loss.backward()  # type: ignore[no-untyped-call]
        total_loss, stopping = add_up(self.accelerator, self.parameters, [loss.item(), float(stop.wanted)])
        norm = gradient_norm(self.config, self.parameters)
        if not (math.isfinite(total_loss) and norm.isfinite()):
            raise TrainingStopped(number, seed, offender(self.model, batch, output, loss), self.saved)
        clip(self.config, self.parameters, norm)
        set_learning_rate(self.config, self.optimiser, number)
        self.optimiser.step()
        self.loss_sum += total_loss
        self.loss_steps += 1
        return _Step(number, whole, output.detach(), total_loss, stopping > 0)

    def _answer(self, batch: Batch, number: int) -> tuple[Tensor, Tensor]:
        """The output, and what the step minimises: the task's loss and, where weighted, the model's own."""
        task = self.task_at(number)
        teacher = self.config.teacher_share(number)
        if self.config.auxiliary is None:
            output = answer(self.model, batch, teacher=teacher)
            return output, task.loss(output, batch)
        output, losses = answer_with_losses(self.model, batch, teacher=teacher)
        weight = self.config.auxiliary_weight(number)
        return output, task.loss(output, batch) + weight * sum(losses.values())

    def _measure(self, step: _Step, journal: Journal) -> None:
        """Add the rows that are due. Those of the last step are in any case, but begin no new sum when not due."""
        evaluations = self._evaluations(step.number)
        due = step.number % self.config.log_every == 0
        if due or self._complete:
            metrics = self.task_at(step.number).metrics(rows_of_all(self.accelerator, step.output), step.batch)
            loss = self.loss_sum / self.loss_steps
            evaluations.insert(0, Record(kind="train", step=step.number, loss=loss, metrics=metrics))
        if due:
            self.loss_sum, self.loss_steps = 0.0, 0
        for record in evaluations:
            self.rows.append(record)
            journal.add(record)

    def _evaluations(self, number: int) -> list[Record]:
        """A row for each test, if they are due; the first of them decides whether to go on."""
        due = number % self.config.eval_every == 0
        if not due and number != self.config.steps:
            return []
        rows = []
        for name, test in self.tests.items():
            sequences, seed = self.config.eval_sequences, self.config.seed
            own_loss, metrics = evaluate(self.model, test, name=name, sequences=sequences, seed=seed)
            (loss,) = mean_over_processes(self.accelerator, [own_loss])  # all processes must stop together
            rows.append(Record(kind="eval", step=number, test=name, loss=loss, metrics=metrics))
        if due and rows:
            self.patience.see(rows[0].loss)
        return rows

    @property
    def _complete(self) -> bool:
        """Whether the step that was taken last is the last of the run."""
        return self.done == self.config.steps or self.patience.exhausted

    def _save(self, number: int, journal: Journal) -> None:
        """Write a checkpoint, after making sure that it is a good one."""
        spoilt = spoilt_parameter(self.model)
        if spoilt is not None:
            raise TrainingStopped(number, batch_seed(self.config.seed, "train", number), spoilt, self.saved)
        journal.reach_disk()  # the last checkpoint of a finished run may be deleted
        self.saved = self.directory.checkpoints / checkpoint.file_name(number)
        if self.is_main:
            checkpoint.save(
                self.directory.checkpoints,
                step=number,
                model=self.model,
                optimiser=self.optimiser,
                config=self.described,
                loss_sum=self.loss_sum,
                loss_steps=self.loss_steps,
                records=self.rows,
                keep=self.config.keep,
            )

    def _restore(self) -> None:
        """Go back to the newest checkpoint that is whole; a run killed before its first one begins again.

        Damaged ones are set aside: what is written from now on must not count them among the last.
        """
        loaded, damaged = checkpoint.newest_good(self.directory.checkpoints)
        if loaded is not None:
            refuse_differences(loaded.path, loaded.config, self.described)
            checkpoint.restore_model(loaded, self.model)
            checkpoint.restore_optimiser(loaded, self.optimiser)
            self.done, self.saved = loaded.step, loaded.path
            self.loss_sum, self.loss_steps = loaded.loss_sum, loaded.loss_steps
            for record in loaded.records:
                watched = record.kind == "eval" and record.test == next(iter(self.tests), None)
                if watched and record.step % self.config.eval_every == 0:
                    self.patience.see(record.loss)
            self.rows = [record for record in loaded.records if self._stays(record)]
        for path in damaged:
            path.replace(path.with_name(path.name + DAMAGED))

    def _stays(self, record: Record) -> bool:
        """Whether a row is one that an uninterrupted run would have written up to the checkpoint.

        The last row of a run that is being extended may not be.
        """
        every = self.config.log_every if record.kind == "train" else self.config.eval_every
        last = self.done if self._complete else self.config.steps
        return record.step % every == 0 or record.step == last

    def _journal(self, progress: Progress) -> Journal:
        """Only the main process tells anything."""
        if not self.is_main:
            return Journal(SilentProgress(), None, None)
        board = TensorBoard(self.directory.tensorboard, self.done + 1) if self.config.tensorboard else None
        progress.start(self.done, self.config.steps)
        return Journal(progress, self.directory.records, board)
