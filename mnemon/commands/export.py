"""``mnemon export``: a trained model as files for others."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import tyro

from mnemon.commands.folders import data_folder
from mnemon.commands.runs import OpenedRun
from mnemon.errors import UserError, look_up
from mnemon.rnn import MANN
from mnemon.sharing.pretrained import CONFIG, WEIGHTS, save_pretrained
from mnemon.sharing.step import export_step, write_onnx
from mnemon.tasks.catalogue import find_task


@dataclass(frozen=True, kw_only=True)
class Export:
    """Write a trained model as config.json and model.safetensors, from which mnemon builds it again anywhere.

    With --formats torch or onnx also one step of it, as a program that runs without mnemon: it takes an input and the
    tensors of a state, and gives an output and those of the next.

    Example: mnemon export runs/copy-ntm-1 --out copier --formats onnx
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of a run, written by mnemon train."""
    out: Path
    """Folder for the files; made where there is none."""
    formats: tuple[str, ...] = ()
    """Of one step: torch for step.pt2 of torch.export, onnx for step.onnx, or both."""
    data: Path | None = None
    """Folder of the data sets, for tasks that need one; $MNEMON_DATA by default."""

    def run(self) -> None:
        """Write the files, and name them."""
        for kind in self.formats:
            look_up({"torch": None, "onnx": None}, kind, "format")
        opened = OpenedRun.open(self.folder)
        task = find_task(opened.task, data_folder(self.data)).train
        model, at = opened.build(task.input_size, task.output_size)
        if self.formats and not isinstance(model, MANN):
            raise UserError(f"model {opened.config.name!r} is no memory cell, and has no step: leave out --formats")
        save_pretrained(self.out, model, opened.config, task.input_size, task.output_size)
        written = [self.out / CONFIG, self.out / WEIGHTS]
        if isinstance(model, MANN):
            for kind in self.formats:
                written.append(self.out / ("step.pt2" if kind == "torch" else "step.onnx"))
                if kind == "torch":
                    torch.export.save(export_step(model.cell), written[-1])
                else:
                    write_onnx(model.cell, written[-1])
        print(f"wrote {', '.join(map(str, written))}, of step {at:,}", file=sys.stderr)
