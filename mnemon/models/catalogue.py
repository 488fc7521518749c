"""The models by name: what ``mnemon list models`` shows and ``mnemon train --model`` builds."""

import torch
from torch import nn

from mnemon.errors import UserError, look_up
from mnemon.models.config import (
    CONTROLLERS,
    LEARNED_STARTS,
    PROGRAM_CHOICES,
    WRITINGS,
    ModelConfig,
    ModelEntry,
    make_writing,
)
from mnemon.models.embeddings import begin_with
from mnemon.models.latent import WEIGHTINGS
from mnemon.models.modern import MODERN
from mnemon.models.multi_view import OF_VIEWS
from mnemon.models.question_answering import MEMORY_NETWORKS
from mnemon.models.recurrent import RECURRENT
from mnemon.models.transformer_views import TRANSFORMERS
from mnemon.models.variational import VARIATIONAL
from mnemon.views import TokenVectors, ViewSizes

MODELS: dict[str, ModelEntry] = {
    **RECURRENT,
    **MODERN,
    **OF_VIEWS,
    **VARIATIONAL,
    **TRANSFORMERS,
    **MEMORY_NETWORKS,
}


def check(config: ModelConfig) -> None:
    """Refuse names that are none, and settings that do not go together."""
    entry = look_up(MODELS, config.name, "model")
    look_up(CONTROLLERS, config.controller, "controller")
    look_up(WRITINGS, config.writing, "writing")
    if config.writing != "regular" and not entry.has_memory:
        raise UserError(f"model {config.name!r} has no memory to write: leave out writing={config.writing!r}")
    if not entry.has_programs:
        for field in ("programs", "program_key", "program_choice"):
            if getattr(config, field) is not None:
                raise UserError(f"model {config.name!r} stores no programs: leave out {field}, or write name='nutm'")
    if config.learned_start is not None and not (entry.learns_start and config.learned_start in LEARNED_STARTS):
        raise UserError(
            f"model {config.name!r} with learned_start={config.learned_start!r}: leave it out, or write name='ntm' and"
            f" one of {', '.join(LEARNED_STARTS)}"
        )
    if config.normalised is not None and not (entry.has_memory and config.name in {*RECURRENT, *MODERN}):
        raise UserError(f"model {config.name!r} has no interface to normalise: leave out normalised")
    if config.embedding is not None and entry.reads_views and not entry.has_embedding:
        raise UserError(f"model {config.name!r} has no embedding with a size of its own: leave out embedding")
    if config.embedding is not None and not entry.reads_views:
        raise UserError(f"model {config.name!r} embeds no tokens: leave out embedding, or write name='dcw-mann'")
    if config.feedback is not None and not entry.has_feedback:
        raise UserError(
            f"model {config.name!r} cannot choose what it is fed: leave out feedback, or write name='dcw-mann'"
        )
    if config.writing != "regular" and entry.reads_views:
        raise UserError(f"model {config.name!r} says itself when it writes: leave out writing={config.writing!r}")
    if config.layers is not None and not entry.has_layers:
        raise UserError(f"model {config.name!r} has one layer: leave out layers, or write name='no-memory'")
    if config.hops is not None and not entry.has_hops:
        raise UserError(f"model {config.name!r} has no hops: leave out hops, or write name='memn2n'")
    if config.linear_start is not None and not (entry.starts_linear and 0 <= config.linear_start < 1):
        raise UserError(
            f"model {config.name!r} with linear_start={config.linear_start:g}: leave it out, or write name='memn2n' and"
            " a share of the steps from 0 to below 1"
        )
    _check_variational(config, entry)
    if config.program_choice is not None:
        look_up(PROGRAM_CHOICES, config.program_choice, "program choice")
    with torch.random.fork_rng(devices=[]):  # random writing draws
        make_writing(config)  # refuses settings that do not go together


def _check_variational(config: ModelConfig, entry: ModelEntry) -> None:
    for field in ("free_bits", "latent_size", "latents_alone"):
        if getattr(config, field) is not None and not entry.is_variational:
            raise UserError(f"model {config.name!r} has no latent variable: leave out {field}, or write name='vmed'")
    for field in ("mode_weighting", "decoder_writes"):
        if getattr(config, field) is not None and not (entry.is_variational and entry.has_memory):
            raise UserError(f"model {config.name!r} has no modes in a memory: leave out {field}, or write name='vmed'")
    if config.mode_weighting is not None:
        look_up(WEIGHTINGS, config.mode_weighting, "mode weighting")


def build_model(
    config: ModelConfig, input_size: int | ViewSizes, output_size: int, *, vectors: TokenVectors | None = None
) -> nn.Module:
    """The model, initialised from torch's global random numbers and, for its embeddings, from ``vectors``."""
    entry = MODELS[config.name]
    if entry.reads_views != isinstance(input_size, ViewSizes):
        fitting = ", ".join(name for name, other in MODELS.items() if other.reads_views != entry.reads_views)
        wanted = "views of tokens" if entry.reads_views else "one sequence of numbers"
        raise UserError(f"model {config.name!r} reads {wanted}, which this task has not: write one of {fitting}")
    model = entry.build(config, input_size, output_size)
    if vectors is not None:
        begin_with(model, vectors)
    return model
