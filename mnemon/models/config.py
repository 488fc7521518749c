"""Which model, and how large: what the command line, the experiments and the runs' folders say of a model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from torch import nn

from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)
from mnemon.controllers.associative_lstm import AssociativeLSTMController
from mnemon.controllers.fast_weights import FastWeightController
from mnemon.controllers.stacked import StackedController
from mnemon.errors import UserError
from mnemon.interface import Interface
from mnemon.memory.base import check_sizes
from mnemon.programs import LookUp, StoredProgramInterface
from mnemon.writing import CachedUniformWriting, RandomWriting, RegularWriting, UniformWriting, Writing

CONTROLLERS: dict[str, type[Controller[Any]]] = {
    "lstm": LSTMController,
    "layer-norm-lstm": LayerNormLSTMController,
    "original-lstm": OriginalLSTMController,
    "associative-lstm": AssociativeLSTMController,
    "gru": GRUController,
    "elman": ElmanController,
    "fast-weights": FastWeightController,
    "feed-forward": FeedForwardController,
}

LEARNED_STARTS = ("controller", "memory")
PROGRAM_CHOICES: dict[str, LookUp] = {"softmax": LookUp(), "gumbel": LookUp(choice="gumbel")}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and how large. The baseline uses the hidden size only."""

    name: str = "ntm"
    controller: str = "lstm"
    hidden: int = 100
    slots: int = 128
    word: int = 20
    heads: int = 1  # read heads, and as many write heads where the memory has several
    biases: bool = True  # of the interface and the read-out, and of the gates that a layer-norm LSTM normalises
    learned_start: str | None = None  # of an NTM: the state of its "controller", or of its "memory"; None: controller
    writing: str = "regular"
    interval: int | None = None  # steps from write to write; uniform and random writing can take it from encoded
    encoded: int | None = None  # steps of the sequence to store, every later step writes; an LMU's window
    normalised: bool | None = None  # whether the interface is, where there is one; None: it is not
    programs: int | None = None  # stored for each head; None: 2, or none where the model stores no programs
    program_key: int | None = None  # size of a program's key; None: as many numbers as programs
    program_choice: str | None = None  # "softmax", a mixture; "gumbel", one of them at a time; None: a mixture
    embedding: int | None = None  # of a token, where the model reads views; None: 64
    feedback: bool | None = None  # whether a decoder of views is fed its own tokens; None: it is
    layers: int | None = None  # of every controller, None: 1; of a Transformer, None: 2
    hops: int | None = None  # times that a memory network reads a story; None: 3
    linear_start: float | None = None  # the first share of the steps, without softmax in the hops; None: 0
    mode_weighting: str | None = None  # of a mixture: "max", "even", "sparse" or "stick-breaking"; None: max
    latent_size: int | None = None  # of a latent variable, vmed's modes then being mapped; None: half a word
    free_bits: float | None = None  # nats of divergence that a latent variable costs nothing; None: 0
    decoder_writes: bool | None = None  # whether a variational decoder writes its memory; None: it does
    latents_alone: bool | None = None  # whether a variational decoder is told nothing but its latents; None: it is not

    def __post_init__(self) -> None:
        from mnemon.models.catalogue import check  # which knows the models, and through them this class

        check_sizes(
            hidden=self.hidden,
            slots=self.slots,
            word=self.word,
            heads=self.heads,
            programs=1 if self.programs is None else self.programs,
            program_key=1 if self.program_key is None else self.program_key,
            embedding=1 if self.embedding is None else self.embedding,
            layers=1 if self.layers is None else self.layers,
            hops=1 if self.hops is None else self.hops,
            latent_size=1 if self.latent_size is None else self.latent_size,
        )
        check(self)


class ModelEntry(NamedTuple):
    """One model of the catalogue."""

    summary: str
    thesis: str  # where the thesis describes it
    file: str
    build: Callable[[ModelConfig, Any, int], nn.Module]  # (config, input size or sizes of the views, output size)
    has_memory: bool = True
    has_programs: bool = False  # of the interface
    learns_start: bool = False  # what there is before the first step
    reads_views: bool = False
    has_feedback: bool = False  # its decoder is fed its own tokens, or not
    has_embedding: bool = True  # of tokens, with a size of its own, where it reads views
    has_layers: bool = True  # can have several
    has_hops: bool = False
    starts_linear: bool = False  # can leave out the softmax at first
    is_variational: bool = False


def make_controller(
    config: ModelConfig, input_size: int, hidden_size: int, *, learned_state: bool = False
) -> Controller[Any]:
    """A controller of one layer or several."""
    kind, layers = CONTROLLERS[config.controller], config.layers or 1
    options: dict[str, Any] = {"bias": config.biases} if kind is LayerNormLSTMController else {}
    each = [
        kind(hidden_size if layer else input_size, hidden_size, learned_state=learned_state, **options)
        for layer in range(layers)
    ]
    return each[0] if layers == 1 else StackedController(each)


def _uniform(config: ModelConfig) -> Writing[Any]:
    slots = config.slots if config.interval is None else None
    return UniformWriting(config.interval, slots=slots, length=config.encoded)


def _cached(config: ModelConfig) -> Writing[Any]:
    if config.interval is None:
        raise UserError("cached writing needs an interval: write interval=5")
    return CachedUniformWriting(config.interval, length=config.encoded)


def _random(config: ModelConfig) -> Writing[Any]:
    if config.encoded is not None:
        return RandomWriting(config.slots, config.encoded)
    if config.interval is None:
        raise UserError("random writing needs an average interval, or the steps of the sequence: write interval=10")
    check_sizes(interval=config.interval)
    return RandomWriting(config.slots, config.interval * (config.slots + 1), repeats=True)


WRITINGS: dict[str, Callable[[ModelConfig], Writing[Any]]] = {
    "regular": lambda _: RegularWriting(),
    "uniform": _uniform,
    "cached": _cached,
    "random": _random,
}


def make_writing(config: ModelConfig) -> Writing[Any]:
    """When the model writes its memory."""
    return WRITINGS[config.writing](config)


def make_programs(config: ModelConfig, *, query_bias: bool) -> Interface:
    """An interface of stored programs, two where none are asked for."""
    programs = 2 if config.programs is None else config.programs
    key_size = programs if config.program_key is None else config.program_key
    found_by = PROGRAM_CHOICES[config.program_choice or "softmax"]
    return StoredProgramInterface(programs, key_size, bias=config.biases, query_bias=query_bias, look_up=found_by)
