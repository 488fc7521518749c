"""The models of one cell whose memory is younger than the thesis (docs/modern-memories.md).

A matrix from keys to values has no slots: there, the setting ``slots`` is the numbers of a key and ``word`` those of a
value. For STM they are the relations and the size of an item, for LMU the order and the signals.
"""

from collections.abc import Callable
from typing import Any

from torch import nn

from mnemon.memory import DeltaMemory, HadamardMemory, LegendreMemory, Memory, MLSTMMemory, SelfAttentiveMemory
from mnemon.models.config import ModelConfig, ModelEntry
from mnemon.models.recurrent import recurrent

WINDOW = 100  # steps that an LMU reaches back where ``encoded`` does not say


def _delta(config: ModelConfig) -> DeltaMemory:
    return DeltaMemory(config.slots, config.word, config.heads)


def _gated_delta(config: ModelConfig) -> DeltaMemory:
    return DeltaMemory(config.slots, config.word, config.heads, gated=True)


def _linear_attention(config: ModelConfig) -> DeltaMemory:
    return DeltaMemory(config.slots, config.word, config.heads, delta=False)


def _mlstm(config: ModelConfig) -> MLSTMMemory:
    return MLSTMMemory(config.slots, config.word, config.heads)


def _hadamard(config: ModelConfig) -> HadamardMemory:
    return HadamardMemory(config.slots, config.word, config.heads)


def _self_attentive(config: ModelConfig) -> SelfAttentiveMemory:
    return SelfAttentiveMemory(config.slots, config.word, config.heads)


def _legendre(config: ModelConfig) -> LegendreMemory:
    return LegendreMemory(config.slots, config.word, WINDOW if config.encoded is None else config.encoded)


def _entry(summary: str, file: str, make: Callable[[ModelConfig], Memory[Any, Any]]) -> ModelEntry:
    def build(config: ModelConfig, input_size: int, output_size: int) -> nn.Module:
        return recurrent(config, make(config), input_size, output_size)

    return ModelEntry(summary, "beyond", f"mnemon/memory/{file}.py", build)


MODERN: dict[str, ModelEntry] = {
    "deltanet": _entry("DeltaNet: a matrix memory corrected by the delta rule", "delta", _delta),
    "gated-deltanet": _entry("Gated DeltaNet, which can also forget", "delta", _gated_delta),
    "linear-attention": _entry("Linear attention: DeltaNet without the rule", "delta", _linear_attention),
    "mlstm": _entry("mLSTM of xLSTM: a matrix memory with exponential gates", "mlstm", _mlstm),
    "shm": _entry("Stable Hadamard memory, calibrated number by number", "hadamard", _hadamard),
    "stm": _entry("Self-attentive memory of items and their relations", "self_attentive", _self_attentive),
    "lmu": _entry("Legendre memory unit: a compressed window over the past", "lmu", _legendre),
}
