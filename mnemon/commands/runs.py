"""The folder of a run that ``mnemon train`` has made, opened to use its model."""

from pathlib import Path
from typing import NamedTuple

from torch import nn

from mnemon.errors import UserError
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.training import checkpoint
from mnemon.training.directory import RunDirectory
from mnemon.views import ViewSizes


class Trained(NamedTuple):
    """A model with the weights of its newest checkpoint, and the step they are of."""

    model: nn.Module
    step: int


class OpenedRun(NamedTuple):
    """What a run's folder says of it."""

    directory: RunDirectory
    task: str
    config: ModelConfig

    @classmethod
    def open(cls, folder: Path) -> "OpenedRun":
        """Read what the run was started with; refuse what is no run of ``mnemon train``."""
        directory = RunDirectory(folder)
        if not directory.run.exists():
            raise UserError(f"there is no run in {folder}: write a folder that mnemon train has made")
        described = directory.config().get("run", {})
        try:
            return cls(directory, described["task"], ModelConfig(**described["model"]))
        except (KeyError, TypeError) as error:
            raise UserError(f"{directory.run} does not name a task and a model of mnemon train") from error

    def build(self, input_size: int | ViewSizes, output_size: int) -> Trained:
        """The model, ready to be used."""
        saved, _ = checkpoint.newest_good(self.directory.checkpoints)
        if saved is None:
            raise UserError(f"{self.directory.path} has no checkpoint yet: train for longer")
        model = build_model(self.config, input_size, output_size)
        checkpoint.restore_model(saved, model)
        return Trained(model.eval(), saved.step)
