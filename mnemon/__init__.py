"""mnemon: memory-augmented neural networks for PyTorch.

A memory cell is four parts, ``controller × interface × memory × writing``; every recurrent system of the thesis is a
choice of these four, and any combination works.
"""

from mnemon.associative_lstm import AssociativeLSTMController
from mnemon.cell import CellState, MemoryCell
from mnemon.controllers import (
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)
from mnemon.errors import UserError
from mnemon.fast_weights import FastWeightController
from mnemon.interface import LinearInterface
from mnemon.memory import DequeMemory, DNCMemory, LRUAMemory, NoMemory, NTMMemory, QueueMemory, StackMemory
from mnemon.programs import LookUp, ProgramKeys, StoredProgramInterface, StoredProgramLinear
from mnemon.rnn import MANN
from mnemon.trace import record_trace
from mnemon.writing import CachedUniformWriting, RandomWriting, RegularWriting, UniformWriting, WriteProtected

__version__ = "0.1.0"

__all__ = [
    "MANN",
    "AssociativeLSTMController",
    "CachedUniformWriting",
    "CellState",
    "DNCMemory",
    "DequeMemory",
    "ElmanController",
    "FastWeightController",
    "FeedForwardController",
    "GRUController",
    "LRUAMemory",
    "LSTMController",
    "LayerNormLSTMController",
    "LinearInterface",
    "LookUp",
    "MemoryCell",
    "NTMMemory",
    "NoMemory",
    "OriginalLSTMController",
    "ProgramKeys",
    "QueueMemory",
    "RandomWriting",
    "RegularWriting",
    "StackMemory",
    "StoredProgramInterface",
    "StoredProgramLinear",
    "UniformWriting",
    "UserError",
    "WriteProtected",
    "record_trace",
]
