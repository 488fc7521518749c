"""The models of one cell: a controller over a memory, or alone (thesis §3.3, §7.3)."""

from typing import Any

from torch import nn

from mnemon.cell import MemoryCell
from mnemon.interface import LinearInterface
from mnemon.memory import DNCMemory, LRUAMemory, Memory, NoMemory, NTMMemory
from mnemon.models.baseline import LSTMBaseline
from mnemon.models.config import CONTROLLERS, ModelConfig, ModelEntry, make_controller, make_programs, make_writing
from mnemon.rnn import MANN


def _recurrent(config: ModelConfig, memory: Memory[Any, Any], input_size: int, output_size: int) -> MANN:
    learned = isinstance(memory, NTMMemory) and CONTROLLERS[config.controller].recurrent  # as the family was published
    controller = make_controller(config, input_size, config.hidden, learned_state=learned)
    has_programs = RECURRENT[config.name].has_programs
    interface = make_programs(config) if has_programs else LinearInterface(bias=config.biases)
    return MANN(
        MemoryCell(
            controller,
            memory,
            interface=interface,
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


RECURRENT: dict[str, ModelEntry] = {
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
    "lstm": ModelEntry(
        "LSTM baseline without a memory",
        "§3.1.1",
        "mnemon/models/baseline.py",
        _lstm,
        has_memory=False,
        has_layers=False,
    ),
    "no-memory": ModelEntry(
        "A controller of any kind without a memory", "§3.1", "mnemon/memory/none.py", _without_memory, False
    ),
}
