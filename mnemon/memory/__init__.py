"""The memories of the thesis and some of today's, one file each, and how slots are addressed."""

from mnemon.memory.attention import AttentionMemory
from mnemon.memory.base import Memory
from mnemon.memory.delta import DeltaMemory
from mnemon.memory.dnc import DNCMemory
from mnemon.memory.hadamard import HadamardMemory
from mnemon.memory.joined import JoinedMemory
from mnemon.memory.lmu import LegendreMemory
from mnemon.memory.lrua import LRUAMemory
from mnemon.memory.mlstm import MLSTMMemory
from mnemon.memory.none import NoMemory
from mnemon.memory.ntm import NTMMemory
from mnemon.memory.self_attentive import SelfAttentiveMemory
from mnemon.memory.stack import DequeMemory, QueueMemory, StackMemory
from mnemon.memory.write_cache import WriteCache

__all__ = [
    "AttentionMemory",
    "DNCMemory",
    "DeltaMemory",
    "DequeMemory",
    "HadamardMemory",
    "JoinedMemory",
    "LRUAMemory",
    "LegendreMemory",
    "MLSTMMemory",
    "Memory",
    "NTMMemory",
    "NoMemory",
    "QueueMemory",
    "SelfAttentiveMemory",
    "StackMemory",
    "WriteCache",
]
