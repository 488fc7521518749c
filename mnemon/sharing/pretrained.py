"""A model of the catalogue as two files: ``config.json``, how it is built, and ``model.safetensors``, its weights.

Loading them executes nothing. The names are those of the Hugging Face hub, so a folder can be put there as it is.
"""

import dataclasses
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.models.catalogue import build_model, check
from mnemon.models.config import ModelConfig
from mnemon.training.files import DamagedFile, read_json, write_atomically, write_json
from mnemon.views import ViewSizes

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT = "mnemon model"
VERSION = 1


def save_pretrained(
    folder: Path, model: nn.Module, config: ModelConfig, input_size: int | ViewSizes, output_size: int
) -> None:
    """Write a model that :func:`mnemon.models.catalogue.build_model` made of these; the folder may not exist yet.

    The weights are written before the description, so that a folder with both is whole.
    """
    with torch.random.fork_rng(devices=[]):
        _compare(model.state_dict(), build_model(config, input_size, output_size), f"{config.name!r} as described")
    folder.mkdir(parents=True, exist_ok=True)
    copies = {name: tensor.detach().cpu().clone() for name, tensor in model.state_dict().items()}
    write_atomically(folder / WEIGHTS, to_bytes(copies, metadata={"format": "pt"}))
    views = input_size._asdict() if isinstance(input_size, ViewSizes) else None
    write_json(
        folder / CONFIG,
        {
            "format": FORMAT,
            "version": VERSION,
            "model": dataclasses.asdict(config),
            "input_size": input_size if views is None else views,
            "output_size": output_size,
        },
    )


def from_pretrained(folder: Path) -> nn.Module:
    """The model that :func:`save_pretrained` wrote, ready to be used (``eval``)."""
    config, input_size, output_size = _described(folder / CONFIG)
    path = folder / WEIGHTS
    try:
        weights = from_bytes(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except SafetensorError as error:
        raise DamagedFile(f"{path} is not a whole safetensors file: {error}") from error
    with torch.random.fork_rng(devices=[]):
        model = build_model(config, input_size, output_size)
    _compare(weights, model, str(path))
    model.load_state_dict(weights)
    return model.eval()


def _described(path: Path) -> tuple[ModelConfig, int | ViewSizes, int]:
    document = read_json(path)
    if document.get("format") != FORMAT:
        raise UserError(f"{path} does not describe a mnemon model: give a folder that save_pretrained has written")
    if document.get("version") != VERSION:
        raise UserError(f"{path} has version {document.get('version')}; this mnemon reads version {VERSION}")
    try:
        config, output_size = ModelConfig(**document["model"]), int(document["output_size"])
        sizes: Any = document["input_size"]
        input_size = ViewSizes(tuple(sizes["views"]), sizes["answer"]) if isinstance(sizes, dict) else int(sizes)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}") from error
    check(config)
    return config, input_size, output_size


def _compare(weights: dict[str, Tensor], model: nn.Module, what: str) -> None:
    """Refuse weights that are not those of the model, by name, shape and type."""
    given, wanted = ({n: (t.shape, t.dtype) for n, t in part.items()} for part in (weights, model.state_dict()))
    if differing := sorted(name for name in given.keys() | wanted.keys() if given.get(name) != wanted.get(name)):
        raise UserError(f"these are not the weights of {what}: they differ in {differing[0]!r}")
