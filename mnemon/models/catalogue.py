"""The models by name: what ``mnemon list models`` shows and ``mnemon train --model`` builds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from mnemon.cell import MemoryCell
from mnemon.controllers import (
    Controller,
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
)
from mnemon.errors import UserError, look_up
from mnemon.interface import Interface, LinearInterface
from mnemon.memory import DNCMemory, LRUAMemory, Memory, NoMemory, NTMMemory
from mnemon.memory.base import check_sizes
from mnemon.models.baseline import LSTMBaseline
from mnemon.programs import LookUp, StoredProgramInterface
from mnemon.rnn import MANN
from mnemon.writing import CachedUniformWriting, RandomWriting, RegularWriting, UniformWriting, Writing

CONTROLLERS: dict[str, type[Controller[Any]]] = {
    "lstm": LSTMController,
    "layer-norm-lstm": LayerNormLSTMController,
    "gru": GRUController,
    "elman": ElmanController,
    "feed-forward": FeedForwardController,
}

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
    biases: bool = True  # of the interface and the read-out
    writing: str = "regular"
    interval: int | None = None  # steps from write to write; uniform writing can take it from slots and encoded
    encoded: int | None = None  # steps of the sequence to store; every later step writes
    programs: int | None = None  # stored for each head; None: 2, or none where the model stores no programs
    program_key: int | None = None  # size of a program's key; None: as many numbers as programs
    program_choice: str | None = None  # "softmax", a mixture; "gumbel", one of them at a time; None: a mixture

    def __post_init__(self) -> None:
        look_up(MODELS, self.name, "model")
        look_up(CONTROLLERS, self.controller, "controller")
        look_up(WRITINGS, self.writing, "writing")
        check_sizes(hidden=self.hidden, slots=self.slots, word=self.word, heads=self.heads)
        if self.writing != "regular" and not MODELS[self.name].has_memory:
            raise UserError(f"model {self.name!r} has no memory to write: leave out writing={self.writing!r}")
        if not MODELS[self.name].has_programs:
            for field in ("programs", "program_key", "program_choice"):
                if getattr(self, field) is not None:
                    raise UserError(f"model {self.name!r} stores no programs: leave out {field}, or write name='nutm'")
        if self.program_choice is not None:
            look_up(PROGRAM_CHOICES, self.program_choice, "program choice")
        check_sizes(
            programs=1 if self.programs is None else self.programs,
            program_key=1 if self.program_key is None else self.program_key,
        )
        with torch.random.fork_rng(devices=[]):  # random writing draws
            make_writing(self)  # refuses settings that do not go together


def _uniform(config: ModelConfig) -> Writing[Any]:
    slots = config.slots if config.interval is None else None
    return UniformWriting(config.interval, slots=slots, length=config.encoded)


def _cached(config: ModelConfig) -> Writing[Any]:
    if config.interval is None:
        raise UserError("cached writing needs an interval: write interval=5")
    return CachedUniformWriting(config.interval, length=config.encoded)


def _random(config: ModelConfig) -> Writing[Any]:
    if config.encoded is None:
        raise UserError("random writing needs the steps of the sequence to store: write encoded=50")
    return RandomWriting(config.slots, config.encoded)


WRITINGS: dict[str, Callable[[ModelConfig], Writing[Any]]] = {
    "regular": lambda _: RegularWriting(),
    "uniform": _uniform,
    "cached": _cached,
    "random": _random,
}


def make_writing(config: ModelConfig) -> Writing[Any]:
    """When the model writes its memory."""
    return WRITINGS[config.writing](config)


def make_interface(config: ModelConfig) -> Interface:
    """How the controller steers the memory: by one linear map, or by stored programs."""
    if not MODELS[config.name].has_programs:
        return LinearInterface(bias=config.biases)
    programs = 2 if config.programs is None else config.programs
    key_size = programs if config.program_key is None else config.program_key
    found_by = PROGRAM_CHOICES[config.program_choice or "softmax"]
    return StoredProgramInterface(programs, key_size, bias=config.biases, look_up=found_by)


class ModelEntry(NamedTuple):
    """One model of the catalogue."""

    summary: str
    thesis: str  # where the thesis describes it
    file: str
    build: Callable[[ModelConfig, int, int], nn.Module]  # (config, input size, output size)
    has_memory: bool = True
    has_programs: bool = False  # of the interface


def build_model(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    """The model, initialised from torch's global random numbers."""
    return MODELS[config.name].build(config, input_size, output_size)


def _recurrent(config: ModelConfig, memory: Memory[Any, Any], input_size: int, output_size: int) -> MANN:
    controller_type = CONTROLLERS[config.controller]
    learned = isinstance(memory, NTMMemory) and controller_type.recurrent  # as the NTM family was published
    controller = controller_type(input_size, config.hidden, learned_state=learned)
    return MANN(
        MemoryCell(
            controller,
            memory,
            interface=make_interface(config),
            writing=make_writing(config),
            output_size=output_size,
            output_bias=config.biases,
        )
    )


def _ntm(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    # the author's order, read before write: trained on short sequences, it holds up on longer ones more often
    memory = NTMMemory(config.slots, config.word, config.heads, config.heads, read_first=True)
    return _recurrent(config, memory, input_size, output_size)


def _dnc(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, DNCMemory(config.slots, config.word, config.heads), input_size, output_size)


def _dnc_without_links(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, links=False)
    return _recurrent(config, memory, input_size, output_size)


def _dnc_repaired(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, masked_lookup=True, erase_freed=True, sharp_links=True)
    return _recurrent(config, memory, input_size, output_size)


def _lrua(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, LRUAMemory(config.slots, config.word, config.heads), input_size, output_size)


def _lstm(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return LSTMBaseline(input_size, config.hidden, output_size)


def _without_memory(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _recurrent(config, NoMemory(), input_size, output_size)


MODELS: dict[str, ModelEntry] = {
    "ntm": ModelEntry("Neural Turing Machine", "§3.3.3, §7.4", "mnemon/memory/ntm.py", _ntm),
    "dnc": ModelEntry("Differentiable Neural Computer", "§3.3.4", "mnemon/memory/dnc.py", _dnc),
    "dnc-no-links": ModelEntry(
        "DNC without temporal links, linear in its slots", "§3.3.4, §7.4.5", "mnemon/memory/dnc.py", _dnc_without_links
    ),
    "dnc-repaired": ModelEntry(
        "DNC with masked look-up, erased frees and sharpened links", "beyond", "mnemon/memory/dnc.py", _dnc_repaired
    ),
    "lrua": ModelEntry("Least recently used access", "§7.4.4", "mnemon/memory/lrua.py", _lrua),
    "nutm": ModelEntry(
        "Neural Universal Turing Machine: NTM with stored programs", "§7.3", "mnemon/programs.py", _ntm, True, True
    ),
    "nutm-dnc": ModelEntry("DNC with stored programs", "§7.4.5", "mnemon/programs.py", _dnc, True, True),
    "nutm-dnc-no-links": ModelEntry(
        "DNC with stored programs, without temporal links",
        "§7.4.5",
        "mnemon/programs.py",
        _dnc_without_links,
        True,
        True,
    ),
    "nutm-lrua": ModelEntry(
        "Least recently used access with stored programs", "§7.4.4", "mnemon/programs.py", _lrua, True, True
    ),
    "lstm": ModelEntry("LSTM baseline without a memory", "§3.1.1", "mnemon/models/baseline.py", _lstm, False),
    "no-memory": ModelEntry(
        "A controller of any kind without a memory", "§3.1", "mnemon/memory/none.py", _without_memory, False
    ),
}
