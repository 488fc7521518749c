"""mLSTM against the published equations without a stabiliser, as loops; and what the stabiliser is for."""

import math
from typing import Any

import pytest
import torch

from mnemon import MLSTMMemory
from mnemon.memory.delta import KEPT_AT_FIRST
from mnemon.memory.mlstm import INPUT_BOUND

from .reference import Matrix, Parts, assert_close, dot, draw, run, sigmoid


class Unscaled:
    """C_t, n_t and r_t as printed."""

    def __init__(self, memory: MLSTMMemory) -> None:
        self.sizes = memory
        self.cell: Matrix = [[0.0] * memory.word for _ in range(memory.slots)]
        self.normaliser = [0.0] * memory.slots

    def step(self, parts: Parts, write: bool) -> Matrix:
        sizes = self.sizes
        heads = [(parts.take(sizes.slots), parts.take(sizes.word)) for _ in range(sizes.reads)]
        key = [number / math.sqrt(sizes.slots) for number in parts.take(sizes.slots)]
        value = parts.take(sizes.word)
        enter = math.exp(INPUT_BOUND * math.tanh(parts.number() / INPUT_BOUND))
        forget = sigmoid(parts.number() + KEPT_AT_FIRST)
        if write:
            for n in range(sizes.slots):
                self.normaliser[n] = forget * self.normaliser[n] + enter * key[n]
                for w in range(sizes.word):
                    self.cell[n][w] = forget * self.cell[n][w] + enter * key[n] * value[w]
        reads = []
        for query, gate in heads:
            divisor = max(abs(dot(query, self.normaliser)), 1.0)
            found = [dot(query, [row[w] for row in self.cell]) / divisor for w in range(sizes.word)]
            reads.append([sigmoid(g) * number for g, number in zip(gate, found, strict=True)])
        return reads


@pytest.mark.parametrize(("slots", "word", "reads"), [(1, 1, 1), (3, 2, 2), (2, 4, 1)])
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_stabilised_is_unstabilised(slots: int, word: int, reads: int, scale: float) -> None:
    memory = MLSTMMemory(slots, word, reads)
    writes = [True, True, False, True, True, True, False, True]
    vectors = scale * draw(len(writes), 2, memory.interface_size)
    states = run(memory, vectors, memory.init_state(2, dtype=torch.float64), writes)
    for sample in range(2):
        loops = Unscaled(memory)
        for vector, state, write in zip(vectors[:, sample].tolist(), states, writes, strict=True):
            parts = Parts(vector)
            assert_close(state.reads[sample], loops.step(parts, write))
            parts.finish()
            scaled = math.exp(state.log_scale[sample])
            assert_close(state.memory[sample] * scaled, loops.cell)
            assert_close(state.normaliser[sample] * scaled, loops.normaliser)


def vector_of(memory: MLSTMMemory, **parts: Any) -> torch.Tensor:
    """One read; what is not given is zero."""
    sizes = {"query": memory.slots, "gate": memory.word, "key": memory.slots, "value": memory.word}
    given = [torch.as_tensor(parts.get(name, [0.0] * size)).double() for name, size in sizes.items()]
    gates = torch.tensor([parts.get("enter", 0.0), parts.get("forget", 0.0)])
    return torch.cat([*given, gates.double()]).unsqueeze(0)


def test_a_strong_write_is_read_as_it_was() -> None:
    """Once more than one unit was written, the normaliser divides by it: r = o v."""
    memory = MLSTMMemory(2, 3)
    vector = vector_of(memory, query=[1.0, 2.0], gate=[1e4] * 3, key=[1.0, 2.0], value=[1.0, -2.0, 3.0], enter=40.0)
    (state,) = run(memory, vector.unsqueeze(0), memory.init_state(1, dtype=torch.float64))
    assert_close(state.reads[0, 0], [1.0, -2.0, 3.0])


def test_many_strong_writes_stay_small() -> None:
    """In float32 the unscaled cell, e^15 a step without forgetting, would reach 10⁹ and lose what comes after."""
    memory = MLSTMMemory(2, 2)
    vectors = torch.ones(400, 1, memory.interface_size)
    vectors[..., -2:] = 1e4
    states = run(memory, vectors, memory.init_state(1))
    assert states[-1].memory.max() < 500
    torch.testing.assert_close(states[-1].reads, torch.full((1, 1, 2), sigmoid(1.0)))


def test_gates_begin_open_enough() -> None:
    interface = MLSTMMemory(2, 2).parse(torch.zeros(1, 10))
    assert interface.log_input.item() == 0
    assert math.exp(interface.log_forget.item()) == pytest.approx(0.982, abs=1e-3)
