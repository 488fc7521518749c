"""Associative memories of chapter 2: encode (⊗), compose (⊕), decode (•)."""

from mnemon.associative.base import AssociativeMemory, compose_all
from mnemon.associative.correlation import CorrelationMemory
from mnemon.associative.fast_weights import FastWeightMemory
from mnemon.associative.holographic import ConvolutionMemory, HolographicMemory
from mnemon.associative.hopfield import HopfieldMemory
from mnemon.associative.modern_hopfield import ModernHopfieldMemory
from mnemon.associative.redundant import RedundantMemory
from mnemon.associative.sparse_distributed import SparseDistributedMemory

__all__ = [
    "AssociativeMemory",
    "ConvolutionMemory",
    "CorrelationMemory",
    "FastWeightMemory",
    "HolographicMemory",
    "HopfieldMemory",
    "ModernHopfieldMemory",
    "RedundantMemory",
    "SparseDistributedMemory",
    "compose_all",
]
