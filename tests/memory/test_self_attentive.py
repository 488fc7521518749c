"""The two memories of STM against loops, and what keeps them bounded."""

import itertools
import math
from typing import Any

import pytest
import torch

from mnemon import SelfAttentiveMemory
from mnemon.memory.self_attentive import FORGET_LIFT, NORM_EPSILON, outer_product_attention

from .reference import Matrix, Parts, Vector, assert_close, assert_steps_like, draw, draw_state, run, sigmoid, softmax


def normalise(row: Vector, gain: Vector, bias: Vector) -> Vector:
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    return [g * (x - mean) / math.sqrt(variance + NORM_EPSILON) + b for x, g, b in zip(row, gain, bias, strict=True)]


def attend(queries: Matrix, keys: Matrix, values: Matrix) -> list[Matrix]:
    width, depth = range(len(keys[0])), range(len(values[0]))
    return [
        [[sum(math.tanh(q[w] * k[w]) * v[d] for k, v in zip(keys, values, strict=True)) for d in depth] for w in width]
        for q in queries
    ]


def step(memory: SelfAttentiveMemory, parts: Parts, state: dict[str, Any], write: bool) -> dict[str, Any]:
    slots, word = range(memory.slots), range(memory.word)
    item, key = parts.take(memory.word), parts.take(memory.word)
    chosen = softmax(parts.take(memory.slots))
    enter, forget = parts.take(memory.word), parts.take(memory.word)
    weights = {name: parameter.tolist() for name, parameter in memory.named_parameters()}
    first, second, third = (math.tanh(share) for share in weights["shares"])
    before, relations = state["memory"], state["relations"]
    items = [list(row) for row in before]
    if write:
        for i, j in itertools.product(word, word):
            own = [
                sum(weights["gate_weight"][g][k] * math.tanh(before[i][k]) for k in word) for g in range(2 * len(word))
            ]
            gate_in, gate_out = sigmoid(enter[j] + own[j]), sigmoid(forget[j] + own[len(word) + j] + FORGET_LIFT)
            items[i][j] = gate_out * before[i][j] + gate_in * math.tanh(item[i] * key[j])
    recalled = [sum(chosen[n] * key[k] * relations[n][k][v] for n in slots for k in word) for v in word]
    shown = [[items[i][j] + second * recalled[i] * key[j] for j in word] for i in word]
    rows = [[sum(weights["attention"][p][i] * shown[i][w] for i in word) for w in word] for p in range(3 * len(slots))]
    normal = [normalise(row, weights["norm_gain"], weights["norm_bias"]) for row in rows]
    count = len(slots)
    related = attend(normal[:count], normal[count : 2 * count], normal[2 * count :])
    new = [[[first * relations[n][k][v] + related[n][k][v] for v in word] for k in word] for n in slots]
    compress, output, transfer = weights["compress"], weights["output"], weights["transfer"]
    small = [[sum(new[n][k][v] * compress[w][k][v] for k in word for v in word) for w in word] for n in slots]
    read = [sum(small[n][w] * row[n][w] for n in slots for w in word) for row in output]
    reads = [read[start : start + len(word)] for start in range(0, len(read), len(word))]
    if not write:
        return state | {"reads": reads}
    moved = [[sum(new[n][k][v] * transfer[w][n][k] for n in slots for k in word) for v in word] for w in word]
    after = [[items[w][v] + third * moved[w][v] for v in word] for w in word]
    return {"memory": after, "relations": new, "reads": reads}


def make(slots: int, word: int, reads: int = 1) -> SelfAttentiveMemory:
    torch.manual_seed(0)
    memory = SelfAttentiveMemory(slots, word, reads).double()
    with torch.no_grad():
        memory.norm_gain.uniform_(0.5, 1.5)
        memory.norm_bias.normal_(std=0.3)
        memory.shares.copy_(torch.tensor([0.7, -0.4, 0.2]))
    return memory


@pytest.mark.parametrize(("slots", "word", "reads"), [(1, 2, 1), (2, 3, 2), (3, 2, 1)])
def test_steps(slots: int, word: int, reads: int) -> None:
    memory = make(slots, word, reads)
    assert_steps_like(step, memory, draw_state(memory, 2))


def test_attention_of_outer_products() -> None:
    queries, keys, values = draw(1, 2, 3), draw(1, 4, 3, seed=1), draw(1, 4, 5, seed=2)
    expected = attend(queries[0].tolist(), keys[0].tolist(), values[0].tolist())
    assert_close(outer_product_attention(queries, keys, values)[0], expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_relations_stay_bounded(scale: float) -> None:
    """Each entry of SAM is at most N · max |v|, and a normalised v at most √W · gain + bias; the sum is geometric."""
    memory = make(3, 4)
    bound = 3 * (2 * 1.5 + memory.norm_bias.abs().max().item()) / (1 - math.tanh(0.7))
    with torch.no_grad():
        vectors = scale * draw(300, 2, memory.interface_size)
        states = run(memory, vectors, memory.init_state(2, dtype=torch.float64))
    assert max(float(state.relations.abs().max()) for state in states) <= bound
    assert all(state.memory.isfinite().all() for state in states)


def test_nothing_is_fed_back_at_first() -> None:
    """All the same each share has a gradient, once there is something to feed back."""
    torch.manual_seed(0)
    memory = SelfAttentiveMemory(2, 3).double()
    assert not memory.shares.any()
    states = run(memory, draw(4, 2, memory.interface_size), memory.init_state(2, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(states[-1].reads.square().sum(), memory.shares)
    assert gradient.all()
