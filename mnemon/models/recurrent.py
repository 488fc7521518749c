"""The models of one cell: a controller over a memory, or alone (thesis §2.4, §3.3, §7.3)."""

import dataclasses
from collections.abc import Callable
from typing import Any

from torch import nn

from mnemon.cell import MemoryCell
from mnemon.interface import Interface, LinearInterface, NormalisedInterface
from mnemon.memory import (
    DequeMemory,
    DNCMemory,
    JoinedMemory,
    LRUAMemory,
    Memory,
    NoMemory,
    NTMMemory,
    QueueMemory,
    StackMemory,
)
from mnemon.memory.stack import LineMemory
from mnemon.models.baseline import LSTMBaseline
from mnemon.models.config import CONTROLLERS, ModelConfig, ModelEntry, make_controller, make_programs, make_writing
from mnemon.rnn import MANN


def recurrent(config: ModelConfig, memory: Memory[Any, Any], input_size: int, output_size: int) -> MANN:
    """One cell over a sequence, with the controller, the interface and the writing that the settings say."""
    learned = isinstance(memory, NTMMemory) and not memory.learned_start  # as the family was published
    recurs = CONTROLLERS[config.controller].recurrent
    controller = make_controller(config, input_size, config.hidden, learned_state=learned and recurs)
    has_programs = config.name in RECURRENT and RECURRENT[config.name].has_programs
    interface: Interface = LinearInterface(bias=config.biases)
    if has_programs:  # in the author's code, whose parameters the thesis counts, a DNC asks for them without a bias
        interface = make_programs(config, query_bias=not isinstance(memory, DNCMemory))
    if config.normalised:
        interface = NormalisedInterface(interface)
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
    learned = config.learned_start == "memory"
    memory = NTMMemory(config.slots, config.word, config.heads, config.heads, read_first=True, learned_start=learned)
    return recurrent(config, memory, input_size, output_size)


def _dnc(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return recurrent(config, DNCMemory(config.slots, config.word, config.heads), input_size, output_size)


def _dnc_without_links(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, links=False)
    return recurrent(config, memory, input_size, output_size)


def _dnc_repaired(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    memory = DNCMemory(config.slots, config.word, config.heads, masked_lookup=True, erase_freed=True, sharp_links=True)
    return recurrent(config, memory, input_size, output_size)


def _lrua(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return recurrent(config, LRUAMemory(config.slots, config.word, config.heads), input_size, output_size)


def _line(config: ModelConfig, kind: type[LineMemory], input_size: int, output_size: int) -> nn.Module:
    """As many of them side by side as there are heads."""
    lines = [kind(config.slots, config.word) for _ in range(config.heads)]
    return recurrent(config, lines[0] if len(lines) == 1 else JoinedMemory(lines), input_size, output_size)


def _stack(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _line(config, StackMemory, input_size, output_size)


def _queue(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _line(config, QueueMemory, input_size, output_size)


def _deque(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return _line(config, DequeMemory, input_size, output_size)


def _lstm(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return LSTMBaseline(input_size, config.hidden, output_size)


def _without_memory(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
    return recurrent(config, NoMemory(), input_size, output_size)


def _alone(controller: str) -> Callable[[ModelConfig, int, int], nn.Module]:
    """A controller that is a memory itself, by its name."""

    def build(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
        return _without_memory(dataclasses.replace(config, controller=controller), input_size, output_size)

    return build


RECURRENT: dict[str, ModelEntry] = {
    "ntm": ModelEntry("Neural Turing Machine", "§3.3.3, §7.4", "mnemon/memory/ntm.py", _ntm, learns_start=True),
    "dnc": ModelEntry("Differentiable Neural Computer", "§3.3.4", "mnemon/memory/dnc.py", _dnc),
    "dnc-no-links": ModelEntry(
        "DNC without temporal links, linear in its slots", "§3.3.4, §7.4.5", "mnemon/memory/dnc.py", _dnc_without_links
    ),
    "dnc-repaired": ModelEntry(
        "DNC with masked look-up, erased frees and sharpened links", "beyond", "mnemon/memory/dnc.py", _dnc_repaired
    ),
    "lrua": ModelEntry("Least recently used access", "§7.4.4", "mnemon/memory/lrua.py", _lrua),
    "stack": ModelEntry("Neural stack: last in, first out", "§3.3.1", "mnemon/memory/stack.py", _stack),
    "queue": ModelEntry("Neural queue: first in, first out", "§3.3.1", "mnemon/memory/stack.py", _queue),
    "deque": ModelEntry("Neural deque: a stack with two ends", "§3.3.1", "mnemon/memory/stack.py", _deque),
    "nutm": ModelEntry(
        "Neural Universal Turing Machine: NTM with stored programs",
        "§7.3",
        "mnemon/programs.py",
        _ntm,
        has_programs=True,
        learns_start=True,
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
    "original-lstm": ModelEntry(
        "LSTM of 1997, which cannot forget", "§2.4.1", "mnemon/controllers/standard.py", _alone("original-lstm"), False
    ),
    "associative-lstm": ModelEntry(
        "LSTM whose cell is a holographic memory",
        "§2.4.2",
        "mnemon/controllers/associative_lstm.py",
        _alone("associative-lstm"),
        False,
    ),
    "fast-weights": ModelEntry(
        "RNN with fast weights, a decaying matrix of its past states",
        "§2.4.3",
        "mnemon/controllers/fast_weights.py",
        _alone("fast-weights"),
        False,
    ),
    "no-memory": ModelEntry(
        "A controller of any kind without a memory", "§3.1", "mnemon/memory/none.py", _without_memory, False
    ),
}
