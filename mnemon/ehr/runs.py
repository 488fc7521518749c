"""Training a model on a prepared folder, and finding it again, with no other codes than it was trained with."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from mnemon.ehr.prediction import Prediction, prediction, predictions
from mnemon.ehr.prepared import SPLITS, Prepared, load_prepared
from mnemon.errors import UserError, look_up
from mnemon.models.catalogue import MODELS, build_model
from mnemon.models.config import ModelConfig
from mnemon.training import checkpoint
from mnemon.training.config import TrainConfig
from mnemon.training.directory import RunDirectory
from mnemon.training.summary import TrainResult

# The thesis's sizes: §4.5.4 for sets, §4.5.5 for what comes next, and those of §4.5.1 for sequences
SIZES: dict[str, ModelConfig] = {
    "sequence": ModelConfig(name="dcw-mann", embedding=64, hidden=256, slots=128, word=128),
    "set": ModelConfig(name="dmnc-early", embedding=64, hidden=64, slots=16, word=64),
    "next": ModelConfig(name="dmnc-early", embedding=20, hidden=64, slots=32, word=32),
}


def sizes_of(prepared: Prepared, model: str) -> ModelConfig:
    """The thesis's sizes for a task."""
    task = prepared.task
    kind = "next" if task.next_visit else ("set" if task.as_set else "sequence")
    return sizes_for(kind, model, views=len(task.inputs))


def sizes_for(kind: str, model: str, *, views: int = 1) -> ModelConfig:
    """The thesis's sizes for a kind of answer; one memory of several views has the slots of all."""
    entry = look_up(MODELS, model, "model")
    if not entry.reads_views:
        fitting = ", ".join(name for name, other in MODELS.items() if other.reads_views)
        raise UserError(f"model {model!r} does not read views of codes: write one of {fitting}")
    embedding = SIZES[kind].embedding if entry.has_embedding else None
    sizes = dataclasses.replace(SIZES[kind], name=model, embedding=embedding)
    if model in ("dnc-single", "dnc-write-protected", "dc-mann", "dcw-mann"):
        sizes = dataclasses.replace(sizes, slots=views * sizes.slots)
    return sizes


def train_on(
    folder: Path,
    out: Path,
    config: ModelConfig,
    training: TrainConfig,
    *,
    inputs: Sequence[str] | None = None,
    resume: bool = False,
    command: Sequence[str] = (),
) -> TrainResult:
    """Train on the training patients, watch the validation patients, test on the others."""
    from mnemon.training.loop import train  # accelerate takes a while to import
    from mnemon.training.seeding import seed_everything

    prepared = load_prepared(folder)
    splits = predictions(prepared, inputs)
    seed_everything(training.seed)
    model = build_model(config, splits.train.input_size, splits.train.output_size)
    views = list(prepared.task.inputs if inputs is None else inputs)
    assert splits.validation is not None
    return train(
        model,
        splits.train,
        {"valid": splits.validation, "test": splits.test},
        training,
        out,
        resume=resume,
        run={
            "prepared": str(folder),
            "codes": _digest(prepared),
            "inputs": views,
            "model": dataclasses.asdict(config),
        },
        command=command,
    )


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """A trained model and the folder it was trained on."""

    model: nn.Module
    prepared: Prepared
    inputs: tuple[str, ...]
    step: int

    def on(self, split: str) -> Prediction:
        """The task of a split."""
        return prediction(self.prepared, split, self.inputs)

    def task_of(self, patient: int) -> Prediction:
        """The task of the split that a patient is in."""
        return self.on(SPLITS[int(self.prepared.patient_split[patient])])


def load_run(run: Path, folder: Path | None = None) -> TrainedRun:
    """The model of a run with its last weights; ``folder``: where the prepared visits are now, if they were moved."""
    directory = RunDirectory(run)
    if not directory.run.exists():
        raise UserError(f"there is no run in {run}: write the folder that mnemon ehr train has made")
    described = directory.config()["run"]
    if "prepared" not in described:
        raise UserError(f"the run in {run} was not trained on health records: write one of mnemon ehr train")
    prepared = load_prepared(Path(described["prepared"]) if folder is None else folder)
    if described.get("codes") != _digest(prepared):
        raise UserError(f"the visits have other codes than those that {run} was trained with: give its own folder")
    inputs = tuple(described["inputs"])
    task = prediction(prepared, "test", inputs)
    model = build_model(ModelConfig(**described["model"]), task.input_size, task.output_size)
    loaded, _ = checkpoint.newest_good(directory.checkpoints)
    if loaded is None:
        raise UserError(f"the run in {run} has no checkpoint yet: let it train for longer")
    checkpoint.restore_model(loaded, model)
    model.eval()
    return TrainedRun(model=model, prepared=prepared, inputs=inputs, step=loaded.step)


def _digest(prepared: Prepared) -> str:
    """Tells vocabularies apart: a model's tokens mean something with those alone that it was trained with."""
    codes = {view: known.codes for view, known in prepared.vocabularies.items()}
    return hashlib.sha256(json.dumps(codes).encode()).hexdigest()
