"""The memories of the thesis, one file each, and how they are addressed."""

from mnemon.memory.attention import AttentionMemory
from mnemon.memory.base import Memory
from mnemon.memory.dnc import DNCMemory
from mnemon.memory.joined import JoinedMemory
from mnemon.memory.lrua import LRUAMemory
from mnemon.memory.none import NoMemory
from mnemon.memory.ntm import NTMMemory
from mnemon.memory.stack import DequeMemory, QueueMemory, StackMemory
from mnemon.memory.write_cache import WriteCache

__all__ = [
    "AttentionMemory",
    "DNCMemory",
    "DequeMemory",
    "JoinedMemory",
    "LRUAMemory",
    "Memory",
    "NTMMemory",
    "NoMemory",
    "QueueMemory",
    "StackMemory",
    "WriteCache",
]
