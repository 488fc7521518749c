"""Reservoirs: random networks that stay as they were drawn, and a linear read-out that learns to use their echoes."""

from mnemon.reservoir.base import Reservoir, ReservoirConfig
from mnemon.reservoir.echo_state import EchoState, EchoStateNetwork
from mnemon.reservoir.liquid_state import LiquidState, LiquidStateMachine
from mnemon.reservoir.readout import fit_readout, memory_capacity

__all__ = [
    "EchoState",
    "EchoStateNetwork",
    "LiquidState",
    "LiquidStateMachine",
    "Reservoir",
    "ReservoirConfig",
    "fit_readout",
    "memory_capacity",
]
