"""A checkpoint is one safetensors file: all tensors, and a JSON document in its metadata.

Loading one executes nothing: there is no pickle in it. Names: ``model.<name>`` are the model's parameters and buffers,
``optimiser.<index>.<entry>`` what the optimiser remembers of each parameter. There is no generator state to keep
(see :mod:`mnemon.training.seeding`). The rows of the records up to the step are in it too, so that a run goes on from
its checkpoint alone, and a checksum of all of it.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.training.files import DamagedFile, write_atomically
from mnemon.training.record import Record, parse_record
from mnemon.training.versions import mnemon_version

FORMAT = "mnemon checkpoint"
VERSION = 2
FIELDS = {
    "step": int,
    "config": dict,
    "loss_sum": float,
    "loss_steps": int,
    "groups": list,
    "records": list,
    "checksum": str,
}
NAME = re.compile(r"step-(\d{8,})\.safetensors")


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What a file holds, not yet put into any model."""

    path: Path
    step: int
    config: dict[str, Any]  # the caller's, as it was saved
    loss_sum: float  # over the steps since the last row of the records
    loss_steps: int
    groups: list[dict[str, Any]]  # the optimiser's parameter groups
    records: list[Record]  # all rows up to the step
    tensors: dict[str, Tensor]


def save(
    folder: Path,
    *,
    step: int,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    config: Mapping[str, Any],
    loss_sum: float,
    loss_steps: int,
    records: Sequence[Record],
    keep: int,
) -> Path:
    """Write ``step-00001000.safetensors`` in one go, then delete all but the last ``keep`` files."""
    memory = optimiser.state_dict()
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for index, entries in memory["state"].items():
        tensors |= {f"optimiser.{index}.{entry}": tensor for entry, tensor in entries.items()}
    document = {
        "format": FORMAT,
        "version": VERSION,
        "mnemon": mnemon_version(),
        "step": step,
        "config": dict(config),
        "loss_sum": loss_sum,
        "loss_steps": loss_steps,
        "groups": memory["param_groups"],
        "records": [record.to_line().decode() for record in records],
    }
    # Copies, because safetensors refuses the shared storage of tied weights.
    copies = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()
    }
    path = folder / file_name(step)
    document["checksum"] = _checksum(document, copies)
    write_atomically(path, to_bytes(copies, metadata={"mnemon": json.dumps(document)}))
    for old in _by_step(folder)[:-keep]:
        old.unlink()
    return path


def file_name(step: int) -> str:
    """What the checkpoint after ``step`` steps is called."""
    return f"step-{step:08d}.safetensors"


def newest_good(folder: Path) -> tuple[Checkpoint | None, list[Path]]:
    """The newest checkpoint that is whole, if there is any, and the damaged files that are newer; it warns of each."""
    damaged: list[Path] = []
    for path in reversed(_by_step(folder)):
        try:
            return load(path), damaged
        except DamagedFile as error:
            warnings.warn(f"{error}; looking for an older one", stacklevel=2)
            damaged.append(path)
    return None, damaged


def load(path: Path) -> Checkpoint:
    """Read a file, refusing whatever is not a checkpoint of this format, or not as it was written."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # Copies, because the file may be deleted while the run that was loaded from it goes on.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 - not a mapping
    except OSError as error:
        raise UserError(f"cannot read checkpoint {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise DamagedFile(f"{path} is not a whole safetensors file: {error}") from error
    document = _document(path, metadata.get("mnemon"))
    if document.pop("checksum") != _checksum(document, tensors):
        raise DamagedFile(f"{path} is damaged: its checksum does not fit what it holds")
    return Checkpoint(
        path=path,
        step=document["step"],
        config=document["config"],
        loss_sum=document["loss_sum"],
        loss_steps=document["loss_steps"],
        groups=document["groups"],
        records=[parse_record(str(line), f"{path}, row {row}") for row, line in enumerate(document["records"], 1)],
        tensors=tensors,
    )


def restore_model(checkpoint: Checkpoint, model: nn.Module) -> None:
    """Put the saved weights into a model of the same names, shapes and types; otherwise leave it as it is."""
    saved = _under("model.", checkpoint.tensors)
    wanted = model.state_dict()
    for name in wanted.keys() - saved.keys():
        raise _mismatch(checkpoint, f"has no tensor {name!r} of this model")
    for name in saved.keys() - wanted.keys():
        raise _mismatch(checkpoint, f"has a tensor {name!r} that this model has not")
    for name, tensor in wanted.items():
        _compare(checkpoint, name, saved[name], tensor.shape, tensor.dtype)
    model.load_state_dict(saved)


def restore_optimiser(checkpoint: Checkpoint, optimiser: torch.optim.Optimizer) -> None:
    """Put the saved memory into an optimiser of the same kind over the same parameters."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    fresh = optimiser.state_dict()["param_groups"]
    if [group.keys() for group in checkpoint.groups] != [group.keys() for group in fresh] or [
        group["params"] for group in checkpoint.groups
    ] != [group["params"] for group in fresh]:
        raise _mismatch(checkpoint, f"was written by another optimiser than {type(optimiser).__name__}")
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _under("optimiser.", checkpoint.tensors).items():
        index, _, entry = name.partition(".")
        if not index.isdecimal() or int(index) >= len(parameters):
            raise _mismatch(checkpoint, f"has an optimiser entry {name!r} for none of the {len(parameters)} parameters")
        if tensor.dim():  # the count of steps alone is a single number
            parameter = parameters[int(index)]
            _compare(checkpoint, f"optimiser.{name}", tensor, parameter.shape, parameter.dtype)
        state.setdefault(int(index), {})[entry] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": [_with_tuples(group) for group in checkpoint.groups]})


def _by_step(folder: Path) -> list[Path]:
    steps = {int(found[1]): path for path in folder.glob("step-*") if (found := NAME.fullmatch(path.name))}
    return [steps[step] for step in sorted(steps)]


def _checksum(document: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps(document).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _document(path: Path, text: str | None) -> dict[str, Any]:
    """The JSON document of a file, with the fields that this version writes."""
    if text is None:
        raise DamagedFile(f"{path} is a safetensors file but not a mnemon checkpoint")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path} has a damaged JSON document: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedFile(f"{path} is a safetensors file but not a mnemon checkpoint")
    if document.get("version") != VERSION:
        raise UserError(f"{path} has checkpoint version {document.get('version')}; this mnemon reads version {VERSION}")
    for name, kind in FIELDS.items():
        if type(document.get(name)) is not kind:
            raise DamagedFile(f"{path} has a damaged JSON document: {name!r} should be of type {kind.__name__}")
    return document


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _with_tuples(group: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has no tuples, and Adam's betas are one."""
    return {
        name: tuple(value) if isinstance(value, list) and name != "params" else value for name, value in group.items()
    }


def _compare(checkpoint: Checkpoint, name: str, tensor: Tensor, shape: torch.Size, dtype: torch.dtype) -> None:
    if tensor.shape != shape:
        raise _mismatch(checkpoint, f"has {name!r} of shape {tuple(tensor.shape)} where {tuple(shape)} is needed")
    if tensor.dtype != dtype:
        raise _mismatch(checkpoint, f"has {name!r} of type {tensor.dtype} where {dtype} is needed")


def _mismatch(checkpoint: Checkpoint, problem: str) -> UserError:
    return UserError(f"{checkpoint.path} {problem}: build the model with the settings it was trained with")
