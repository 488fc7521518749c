"""The models by name: what ``mnemon list models`` shows and ``mnemon train --model`` builds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from mnemon.errors import look_up
from mnemon.memory import DNCMemory, LRUAMemory, Memory, NTMMemory
from mnemon.memory.base import check_sizes
from mnemon.models.baseline import LSTMBaseline
from mnemon.rnn import MANN

CONTROLLERS: dict[str, type[Controller[Any]]] = {
    "lstm": LSTMController,
    "layer-norm-lstm": LayerNormLSTMController,
    "gru": GRUController,
    "elman": ElmanController,
    "feed-forward": FeedForwardController,
}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Which model, and how large. The baseline uses the hidden size only."""

    name: str = "ntm"
    controller: str = "lstm"
    hidden: int = 100
    slots: int = 128
    word: int = 20
    heads: int = 1  # read heads, and as many write heads where the memory has several

    def __post_init__(self) -> None:
        look_up(MODELS, self.name, "model")
        look_up(CONTROLLERS, self.controller, "controller")
        check_sizes(hidden=self.hidden, slots=self.slots, word=self.word, heads=self.heads)


class ModelEntry(NamedTuple):
    """One model of the catalogue."""

    summary: str
    thesis: str  # where the thesis describes it
    file: str
    build: Callable[[ModelConfig, int, int], nn.Module]  # (config, input size, output size)


def build_model(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    """The model, initialised from torch's global random numbers."""
    return MODELS[config.name].build(config, input_size, output_size)


def _recurrent(config: ModelConfig, memory: Memory[Any, Any], input_size: int, output_size: int) -> MANN:
    controller_type = CONTROLLERS[config.controller]
    learned = isinstance(memory, NTMMemory) and controller_type.recurrent  # as the NTM family was published
    controller = controller_type(input_size, config.hidden, learned_state=learned)
    return MANN(MemoryCell(controller, memory, output_size=output_size))


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
    "lstm": ModelEntry("LSTM baseline without a memory", "§3.1.1", "mnemon/models/baseline.py", _lstm),
}
