"""The memories of the thesis, one file each, and how they are addressed."""

from mnemon.memory.base import Memory
from mnemon.memory.dnc import DNCMemory
from mnemon.memory.lrua import LRUAMemory
from mnemon.memory.none import NoMemory
from mnemon.memory.ntm import NTMMemory

__all__ = ["DNCMemory", "LRUAMemory", "Memory", "NTMMemory", "NoMemory"]
