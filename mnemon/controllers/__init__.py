"""Controllers, one kind a file: the network that sees the input and what was read, and steers the memory."""

from mnemon.controllers.associative_lstm import AssociativeLSTMController
from mnemon.controllers.base import Controller, HiddenState, LSTMState
from mnemon.controllers.fast_weights import FastWeightController
from mnemon.controllers.stacked import StackedController
from mnemon.controllers.standard import (
    ElmanController,
    FeedForwardController,
    GRUController,
    LayerNormLSTMController,
    LSTMController,
    OriginalLSTMController,
)

__all__ = [
    "AssociativeLSTMController",
    "Controller",
    "ElmanController",
    "FastWeightController",
    "FeedForwardController",
    "GRUController",
    "HiddenState",
    "LSTMController",
    "LSTMState",
    "LayerNormLSTMController",
    "OriginalLSTMController",
    "StackedController",
]
