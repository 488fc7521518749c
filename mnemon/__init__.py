"""mnemon: memory-augmented neural networks for PyTorch.

A memory cell is four parts, ``controller × interface × memory × writing``; every recurrent system of the thesis is a
choice of these four, and any combination works.
"""

from mnemon.cell import CellState, MemoryCell
from mnemon.controllers import (
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)
from mnemon.controllers.associative_lstm import AssociativeLSTMController
from mnemon.controllers.fast_weights import FastWeightController
from mnemon.errors import UserError
from mnemon.interface import LinearInterface, NormalisedInterface
from mnemon.memory import (
    DeltaMemory,
    DequeMemory,
    DNCMemory,
    HadamardMemory,
    LegendreMemory,
    LRUAMemory,
    MLSTMMemory,
    NoMemory,
    NTMMemory,
    QueueMemory,
    SelfAttentiveMemory,
    StackMemory,
)
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
    "DeltaMemory",
    "DequeMemory",
    "ElmanController",
    "FastWeightController",
    "FeedForwardController",
    "GRUController",
    "HadamardMemory",
    "LRUAMemory",
    "LSTMController",
    "LayerNormLSTMController",
    "LegendreMemory",
    "LinearInterface",
    "LookUp",
    "MLSTMMemory",
    "MemoryCell",
    "NTMMemory",
    "NoMemory",
    "NormalisedInterface",
    "OriginalLSTMController",
    "ProgramKeys",
    "QueueMemory",
    "RandomWriting",
    "RegularWriting",
    "SelfAttentiveMemory",
    "StackMemory",
    "StoredProgramInterface",
    "StoredProgramLinear",
    "UniformWriting",
    "UserError",
    "WriteProtected",
    "record_trace",
]
