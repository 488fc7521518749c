"""``mnemon demo``: watch a memory network learn to copy, beside an LSTM of equal size that cannot."""

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from mnemon.commands.console import table_console
from mnemon.commands.demo_report import write_report
from mnemon.commands.typed import typed
from mnemon.models.baseline import matching_hidden_size
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.rnn import MANN
from mnemon.tasks.copy import Copy
from mnemon.trace import record_trace
from mnemon.training.allocation import keep_freed_memory
from mnemon.training.config import TrainConfig
from mnemon.training.seeding import generator_from, seed_everything
from mnemon.viewer import View, view_answer

TASK = Copy(min_length=1, max_length=8)
HELD_OUT = {"length 8": Copy(min_length=8, max_length=8), "length 16": Copy(min_length=16, max_length=16)}
MEMORY_MODEL = ModelConfig(name="ntm", hidden=64, slots=32, word=16)
TRAINING = TrainConfig(
    steps=6_000,
    optimiser="adam",
    learning_rate=1e-3,
    anneal=0.3,
    clip_value=None,
    clip_norm=1.0,
    log_every=50,
    eval_every=2_000,
    eval_sequences=128,
)
TITLE = "Copy: bit accuracy on sequences never seen, after training on lengths 1–8"
SHADES = " ░▒▓█"


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Train a Neural Turing Machine and an LSTM of equal size to copy sequences; about a minute.

    Both see sequences of up to 8 items. Then they are asked for 16, which only the memory can hold. It ends with a
    report, from which pages lead to the memory at work.
    """

    out: Path | None = None
    """Folder for the two runs and the report; a new one under runs/ by default."""
    seed: int = 0
    """Another seed gives other sequences and other initial weights."""

    def run(self) -> None:
        """Train both, draw what the memory does, and print the table."""
        from rich.console import Console
        from rich.table import Table

        out = self.out or _new_folder(Path("runs"))
        hidden = matching_hidden_size(_count(MEMORY_MODEL), TASK.input_size, TASK.output_size)
        table = Table(title=TITLE)
        for column in ("model", "parameters", *HELD_OUT):
            table.add_column(column, justify="left" if column == "model" else "right")
        rows, views = [], []
        for config in (ModelConfig(name="lstm", hidden=hidden), MEMORY_MODEL):
            Console(stderr=True).print(f"training {config.name}, {_count(config):,} parameters")
            model, metrics = self._train(config, out / config.name)
            accuracies = (f"{100 * metrics[test]['bit_accuracy']:.1f}%" for test in HELD_OUT)
            rows.append((config.name, f"{_count(config):,}", *accuracies))
            table.add_row(*rows[-1])
            views.append(_watch(model, config.name))
        table_console().print(table)
        report = write_report(out, TITLE, ("model", "parameters", *HELD_OUT), rows, views)
        print(f"open {report} in a browser and watch the memory at work", file=sys.stderr)

    def _train(self, config: ModelConfig, out: Path) -> tuple[nn.Module, dict[str, dict[str, float]]]:
        from mnemon.training.loop import train  # accelerate takes a while to import

        keep_freed_memory()
        torch.set_num_threads(1)  # the tensors are small: two threads would wait for each other
        seed_everything(self.seed)
        model = build_model(config, TASK.input_size, TASK.output_size)
        training = dataclasses.replace(TRAINING, seed=self.seed)
        described = {"task": "copy", "model": dataclasses.asdict(config)}
        result = train(model, TASK, HELD_OUT, training, out, run=described, command=typed())
        if isinstance(model, MANN):
            print(_draw_example(model))
        return model, result.metrics


def _watch(model: nn.Module, name: str) -> View:
    """One held-out sequence, twice as long as those of the training."""
    task = HELD_OUT["length 16"]
    return view_answer(model, task, task.sample(1, generator_from(0)), title=f"{name} on copy, length 16")


def _draw_example(model: MANN) -> str:
    """One held-out sequence, the model's answer, and where its heads were."""
    task = HELD_OUT["length 16"]
    batch = task.sample(1, generator_from(0))
    with torch.no_grad(), record_trace(model) as trace:
        output, _ = model(batch.inputs)
    parts = [task.render(batch, 0, output)]
    for title, weights in (("write", trace.state.write_weights), ("read", trace.state.read_weights)):
        parts.append(f"{title} head: slots down, time across\n{_draw_weights(weights[:, 0, 0])}")
    return "\n".join(parts)


def _draw_weights(weights: Tensor) -> str:
    """A (time, slot) weighting as shades; slots that are never visited are left out."""
    visited = (weights > 0.2).any(0).nonzero().flatten().tolist()
    shades = (weights.clamp(0, 1) * (len(SHADES) - 1)).round().long()
    return "\n".join(f"{slot:>7}  " + "".join(SHADES[shade] for shade in shades[:, slot]) for slot in visited)


def _count(config: ModelConfig) -> int:
    model = build_model(config, TASK.input_size, TASK.output_size)
    return sum(parameter.numel() for parameter in model.parameters())


def _new_folder(parent: Path) -> Path:
    number = 1
    while (parent / f"demo-{number}").exists():
        number += 1
    return parent / f"demo-{number}"
