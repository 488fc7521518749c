"""Every memory and controller once, small: what tests of the cell run over."""

from collections.abc import Callable
from typing import Any

import torch

from mnemon import MANN, DequeMemory, DNCMemory, LRUAMemory, MemoryCell, NTMMemory, QueueMemory, StackMemory
from mnemon.controllers import Controller
from mnemon.memory import Memory
from mnemon.models.config import CONTROLLERS
from mnemon.native.parts import CONTROLLERS as WITH_KERNEL
from mnemon.rnn import Engine

MEMORIES: dict[str, Callable[[], Memory[Any, Any]]] = {
    "ntm": lambda: NTMMemory(5, 3, reads=2, writes=2),
    "ntm-read-first": lambda: NTMMemory(5, 3, reads=1, writes=1, read_first=True),
    "dnc": lambda: DNCMemory(5, 3, reads=2),
    "dnc-no-links": lambda: DNCMemory(5, 3, reads=2, links=False),
    "dnc-repaired": lambda: DNCMemory(5, 3, reads=2, masked_lookup=True, erase_freed=True, sharp_links=True),
    "lrua": lambda: LRUAMemory(5, 3, reads=2),
}
LINES: dict[str, Callable[[], Memory[Any, Any]]] = {  # for which there are no kernels
    "stack": lambda: StackMemory(5, 3),
    "queue": lambda: QueueMemory(5, 3),
    "deque": lambda: DequeMemory(5, 3),
}
EVERY_MEMORY = MEMORIES | LINES
COVERED = [name for name, kind in CONTROLLERS.items() if kind in WITH_KERNEL]
WITH_KERNELS = [name for name in COVERED if name != "original-lstm"]  # which runs on the LSTM's
WITHOUT_KERNELS = [name for name in CONTROLLERS if name not in COVERED]


def make_controller(name: str, input_size: int = 4, hidden_size: int = 6) -> Controller[Any]:
    """A controller, with a learned state where it has one."""
    kind = CONTROLLERS[name]
    return kind(input_size, hidden_size, learned_state=kind.recurrent, dtype=torch.float64)


def make_rnn(memory: str, controller: str = "lstm", seed: int = 0, engine: Engine = "auto") -> MANN:
    """A float64 network whose weights are large enough for every part to matter."""
    torch.manual_seed(seed)
    rnn = MANN(MemoryCell(make_controller(controller), EVERY_MEMORY[memory](), output_size=2), engine=engine)
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.normal_(std=0.5)
    return rnn


def random_input(*shape: int, seed: int = 1) -> torch.Tensor:
    """Standard normal numbers in float64."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
