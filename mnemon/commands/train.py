"""``mnemon train``: one model on one task, in a folder of its own."""

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import torch
import tyro

from mnemon.commands.console import table_console
from mnemon.commands.folders import data_folder
from mnemon.commands.typed import typed
from mnemon.errors import UserError, look_up
from mnemon.experiments import dialogue
from mnemon.experiments.ntm_tasks import sizes_of, training_of
from mnemon.memory.base import check_sizes
from mnemon.models.catalogue import MODELS, build_model
from mnemon.models.config import ModelConfig
from mnemon.models.encoder_decoder import Concatenated, EncoderDecoder
from mnemon.rnn import MANN, Engine
from mnemon.tasks.base import Task, WordTask, known_vectors
from mnemon.tasks.catalogue import find_task
from mnemon.training.allocation import keep_freed_memory
from mnemon.training.config import TrainConfig

if TYPE_CHECKING:
    from rich.table import Table as RichTable

MOST_ACROSS = 8  # metrics side by side


@dataclass(frozen=True, kw_only=True)
class Train:
    """Train a model on a task, test it on settings it has not seen, and keep all of it in a folder.

    Sizes that are not given are the thesis's for the tasks of its §7.4.1 and §7.4.2; on dialogue they are those of
    mnemon run dialogue; for all others they are 100 hidden units, 128 slots of 20 numbers, and one head. Where there
    are stored programs, the loss that keeps their keys apart has the weight 0.1, times 0.9 at each step. Stop with
    Ctrl-C and go on with --resume: the run then ends as if it had never been stopped.

    Example: mnemon train copy --model ntm --seed 1
    """

    task: Annotated[str, tyro.conf.Positional]
    """Name of the task (mnemon list tasks)."""
    model: str = "ntm"
    """Name of the model (mnemon list models)."""
    steps: int = 8_000
    """Batches to train on."""
    seed: int = 0
    """The same seed gives the same run."""
    out: Path | None = None
    """Folder of the run; runs/TASK-MODEL-SEED by default."""
    resume: bool = False
    """Go on from the last checkpoint in the folder."""
    controller: str = "lstm"
    """lstm, layer-norm-lstm, gru, elman or feed-forward."""
    hidden: int | None = None
    """Size of the controller."""
    slots: int | None = None
    """Slots of the memory."""
    word: int | None = None
    """Size of a slot."""
    heads: int | None = None
    """Read heads, and as many write heads where a memory has several."""
    layers: int | None = None
    """Layers, for models that can have several."""
    hops: int | None = None
    """Times that a memory network reads a story."""
    linear_start: float | None = None
    """The first share of the steps, in which a memory network has no softmax."""
    normalised: bool | None = None
    """Whether the interface vector is layer-normalised."""
    programs: int | None = None
    """Programs of each head, and numbers in their keys, for models that store programs."""
    program_choice: str | None = None
    """How a program is found: softmax mixes them, gumbel takes one at a time."""
    writing: str = "regular"
    """When the memory is written: regular, uniform, cached or random."""
    interval: int | None = None
    """Steps from write to write, for uniform and cached writing."""
    encoded: int | None = None
    """Steps of the sequence to store, for uniform, cached and random writing, where every later step writes; and for an
    LMU, whose window it is."""
    engine: Engine = "auto"
    """auto takes the native engine wherever it has a kernel; native insists on it; reference is plain torch."""
    replay: int | None = None
    """Steps between two states that are kept for the backward pass, where long sequences need too much memory."""
    data: Path | None = None
    """Folder of the data sets, for tasks that need one; $MNEMON_DATA by default."""
    teacher: float | None = None
    """How often a decoder is fed the right token rather than its own; by default always on dialogue, else never."""
    batch_size: int = 16
    """Sequences in a batch."""
    optimiser: Literal["rmsprop", "adam"] = "rmsprop"
    """RMSProp as the thesis's NTM experiments, or Adam."""
    learning_rate: float = 3e-4
    """Step size; the thesis has 1e-4."""
    anneal: float = 0.8
    """The last share of the steps, over which the learning rate falls to zero; the thesis keeps it."""
    clip_value: float | None = 10.0
    """Bound of each element of the gradient."""
    clip_norm: float | None = 1.0
    """Bound of the norm of the whole gradient; the thesis has none."""
    log_every: int = 100
    """Steps between two rows of the record."""
    eval_every: int = 1_000
    """Steps between two tests."""
    eval_sequences: int = 64
    """Sequences in each test; the thesis uses 1,000."""
    patience: int | None = None
    """Tests in a row without a lower loss on the first of them that end the run; by default none do."""
    checkpoint_every: int = 500
    """Steps between two checkpoints."""
    keep: int = 2
    """Checkpoints to keep."""
    tensorboard: bool = False
    """Also write TensorBoard's files."""
    threads: int = 1
    """Threads of torch; for batches of this size two are hardly faster, and slower on a busy machine."""

    def run(self) -> None:
        """Train, then print the results as a table."""
        entry = find_task(self.task, data_folder(self.data))
        model_config = self._model_config(entry.train)
        config = self._training(entry.train, model_config)
        from mnemon.training.loop import train  # accelerate takes a while to import
        from mnemon.training.processes import is_first_process
        from mnemon.training.seeding import seed_everything

        check_sizes(threads=self.threads, replay=1 if self.replay is None else self.replay)
        keep_freed_memory()
        torch.set_num_threads(self.threads)
        seed_everything(self.seed)
        sizes = (entry.train.input_size, entry.train.output_size)
        model = build_model(model_config, *sizes, vectors=known_vectors(entry.train))
        if isinstance(model, MANN):
            model.replay = self.replay
        elif self.replay is not None:
            raise UserError(f"model {self.model!r} is no cell over a sequence: leave out --replay")
        if isinstance(model, MANN | EncoderDecoder | Concatenated):
            model.engine = self.engine
        elif self.engine != "auto":
            raise UserError(f"model {self.model!r} is torch's own and has no engines: leave out --engine")
        out = self.out or Path("runs") / f"{self.task}-{self.model}-{self.seed}"
        result = train(
            model,
            entry.train,
            entry.tests,
            config,
            out,
            resume=self.resume,
            run={"task": self.task, "model": dataclasses.asdict(model_config), "engine": self.engine},
            command=typed(),
        )
        if not is_first_process():
            return
        title = f"{self.model} on {self.task}, {result.parameters:,} parameters, seed {self.seed}"
        table_console().print(_table(title, result.metrics))
        print(f"kept in {out}", file=sys.stderr)

    def _training(self, task: Task, config: ModelConfig) -> TrainConfig:
        """What was asked for; on dialogue the right words are fed where nothing else is."""
        named = (field.name for field in dataclasses.fields(TrainConfig))
        training = TrainConfig(**{name: getattr(self, name) for name in named if hasattr(self, name)})
        if not isinstance(task, WordTask):
            return training_of(config, training)
        taught = training if training.teacher is not None else dataclasses.replace(training, teacher=1.0)
        return dialogue.training_of(config, taught)

    def _model_config(self, task: Task) -> ModelConfig:
        look_up(MODELS, self.model, "model")
        sizes = (
            *("hidden", "slots", "word", "heads", "interval", "encoded", "normalised"),
            *("programs", "program_choice", "layers", "hops", "linear_start"),
        )
        given = {name: getattr(self, name) for name in sizes if getattr(self, name) is not None}
        if self.programs is not None:
            given["program_key"] = self.programs
        if not isinstance(task, WordTask) or not MODELS[self.model].reads_views:
            usual = sizes_of(self.task, self.model)
        else:
            usual, vectors = dialogue.sizes(self.model), task.word_vectors
            given["embedding"] = usual.embedding if vectors is None else vectors.vectors.shape[1]
        return dataclasses.replace(usual, controller=self.controller, writing=self.writing, **given)


def _table(title: str, metrics: Mapping[str, Mapping[str, float]]) -> "RichTable":
    """A row for each test or, where there are many metrics, for each of them; tests need not have the same ones."""
    from rich.table import Table

    names = list(dict.fromkeys(name for found in metrics.values() for name in found))
    numbers = {
        (test, name): f"{found[name]:.4g}" if name in found else "–"
        for test, found in metrics.items()
        for name in names
    }
    across = len(names) <= MOST_ACROSS
    table = Table("test" if across else "metric", title=title)
    for column in names if across else metrics:
        table.add_column(column.replace("_", " "), justify="right")
    if across:
        for test in metrics:
            table.add_row(test, *(numbers[test, name] for name in names))
    else:
        for name in names:
            table.add_row(name.replace("_", " "), *(numbers[test, name] for test in metrics))
    return table
