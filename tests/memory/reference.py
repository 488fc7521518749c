"""The equations of slot memories for one sample, as loops over plain floats; and the tools that compare with them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mnemon.memory.base import Memory

Vector = list[float]
Matrix = list[Vector]

EPSILON = 1e-6


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def softmax(numbers: Vector) -> Vector:
    exponentials = [math.exp(number - max(numbers)) for number in numbers]
    return [exponential / sum(exponentials) for exponential in exponentials]


def dot(left: Vector, right: Vector) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def norm(vector: Vector) -> float:
    return math.sqrt(dot(vector, vector) + EPSILON)


def cosine(key: Vector, slot: Vector) -> float:
    return dot(key, slot) / (norm(key) * norm(slot))


def masked_cosine(key: Vector, slot: Vector, mask: Vector) -> float:
    return cosine([m * k for m, k in zip(mask, key, strict=True)], [m * s for m, s in zip(mask, slot, strict=True)])


def content_weights(similarities: Vector, strength: float) -> Vector:
    return softmax([strength * similarity for similarity in similarities])


def look_up(memory: Matrix, key: Vector, strength: float) -> Vector:
    return content_weights([cosine(key, slot) for slot in memory], strength)


def interpolate(content: Vector, previous: Vector, gate: float) -> Vector:
    return [gate * c + (1 - gate) * p for c, p in zip(content, previous, strict=True)]


def circular_shift(weights: Vector, shifts: Vector) -> Vector:
    slots, reach = len(weights), len(shifts) // 2
    shift = [0.0] * slots  # s(k), k = 0 … N − 1
    for place, probability in enumerate(shifts):
        shift[(place - reach) % slots] += probability
    return [sum(weights[j] * shift[(i - j) % slots] for j in range(slots)) for i in range(slots)]


def sharpen(weights: Vector, exponent: float) -> Vector:
    largest = max(weights)
    if largest == 0:
        return [1 / len(weights)] * len(weights)
    powers = [(weight / largest) ** exponent for weight in weights]
    return [power / sum(powers) for power in powers]


def retention(free_gates: Vector, read_weights: Matrix) -> Vector:
    kept = [1.0] * len(read_weights[0])
    for gate, weights in zip(free_gates, read_weights, strict=True):
        kept = [k * (1 - gate * weight) for k, weight in zip(kept, weights, strict=True)]
    return kept


def usage(previous: Vector, written: Vector, kept: Vector) -> Vector:
    return [(u + w - u * w) * k for u, w, k in zip(previous, written, kept, strict=True)]


def from_least_used(used: Vector) -> list[int]:
    slope = 4e-6 * (1 + max(used))  # settles ties in favour of the first slots
    return sorted(range(len(used)), key=lambda slot: used[slot] + slope * slot)


def allocation(used: Vector) -> Vector:
    lifted = [EPSILON + (1 - EPSILON) * u for u in used]
    allocated, product = [0.0] * len(used), 1.0
    for slot in from_least_used(used):
        allocated[slot] = (1 - lifted[slot]) * product
        product *= lifted[slot]
    return allocated


def write_weights(content: Vector, allocated: Vector, allocation_gate: float, write_gate: float) -> Vector:
    return [
        write_gate * (allocation_gate * a + (1 - allocation_gate) * c) for c, a in zip(content, allocated, strict=True)
    ]


def precedence(previous: Vector, written: Vector) -> Vector:
    return [(1 - sum(written)) * p + w for p, w in zip(previous, written, strict=True)]


def temporal_links(previous: Matrix, previous_precedence: Vector, written: Vector) -> Matrix:
    slots = range(len(written))

    def link(i: int, j: int) -> float:
        if i == j:
            return 0.0
        return (1 - written[i] - written[j]) * previous[i][j] + written[i] * previous_precedence[j]

    return [[link(i, j) for j in slots] for i in slots]


def follow(links: Matrix, weights: Vector) -> Vector:
    slots = range(len(weights))
    return [sum(links[i][j] * weights[j] for j in slots) for i in slots]


def retrace(links: Matrix, weights: Vector) -> Vector:
    slots = range(len(weights))
    return [sum(links[i][j] * weights[i] for i in slots) for j in slots]


def mix_read_modes(modes: Vector, backward: Vector, content: Vector, forward: Vector) -> Vector:
    return [modes[0] * b + modes[1] * c + modes[2] * f for b, c, f in zip(backward, content, forward, strict=True)]


def least_used(used: Vector, count: int) -> Vector:
    order = from_least_used(used)
    return [1.0 if slot in order[:count] else 0.0 for slot in range(len(used))]


def read(memory: Matrix, weights: Vector) -> Vector:
    return [sum(weights[i] * memory[i][d] for i in range(len(memory))) for d in range(len(memory[0]))]


def erase_and_add(memory: Matrix, weights: Matrix, erase: Matrix, add: Matrix) -> Matrix:
    written = [list(slot) for slot in memory]
    for i, slot in enumerate(written):
        for d in range(len(slot)):
            for w, e in zip(weights, erase, strict=True):
                slot[d] *= 1 - w[i] * e[d]
            for w, v in zip(weights, add, strict=True):
                slot[d] += w[i] * v[d]
    return written


class Parts:
    """A vector that is cut from its front."""

    def __init__(self, vector: Vector) -> None:
        self._rest = list(vector)

    def take(self, count: int) -> Vector:
        taken, self._rest = self._rest[:count], self._rest[count:]
        assert len(taken) == count
        return taken

    def number(self) -> float:
        return self.take(1)[0]

    def finish(self) -> None:
        assert not self._rest


def assert_close(actual: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    """The tensor is the (nested) list of floats."""
    torch.testing.assert_close(
        actual.double(), torch.tensor(expected, dtype=torch.float64).view_as(actual), rtol=tolerance, atol=tolerance
    )


def draw(*shape: int, seed: int = 0) -> Tensor:
    """Normal numbers in double precision."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draw_unit(*shape: int, seed: int = 0) -> Tensor:
    """Uniform numbers in [0, 1) in double precision."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def draw_weighting(*shape: int, seed: int = 0) -> Tensor:
    """Weightings over the last axis that sum to less than one."""
    weights, total = draw_unit(*shape, seed=seed), draw_unit(*shape[:-1], 1, seed=seed + 1000)
    return total * weights / weights.sum(-1, keepdim=True)


def draw_links(batch: int, slots: int, seed: int = 0) -> Tensor:
    """Link matrices: rows and columns sum to less than one, the diagonal is zero."""
    links = draw_weighting(batch, slots, slots, seed=seed) / slots
    return links * (1 - torch.eye(slots, dtype=torch.float64))


def draw_state(memory: Memory[Any, Any], batch: int, seed: int = 0) -> Any:
    """A state in the middle of a sequence: every tensor random, in its range."""
    state = memory.init_state(batch, dtype=torch.float64)
    parts = {}
    for place, (name, part) in enumerate(state._asdict().items()):
        own = seed + 10 * place
        if not part.is_floating_point():
            parts[name] = part
        elif name in ("memory", "reads"):
            parts[name] = draw(*part.shape, seed=own)
        elif name == "usage":
            parts[name] = draw_unit(*part.shape, seed=own)
        elif name == "links":
            parts[name] = draw_links(batch, part.shape[1], seed=own)
        else:
            parts[name] = draw_weighting(*part.shape, seed=own)
    return type(state)(**parts)


def run(memory: Memory[Any, Any], vectors: Tensor, state: Any, writes: Sequence[bool] | None = None) -> list[Any]:
    """The states of a memory as it is stepped along (T, B, interface) vectors."""
    states = []
    for step, vector in enumerate(vectors):
        state = memory(memory.parse(vector), state, True if writes is None else writes[step])
        states.append(state)
    return states


Step = Callable[[Any, Parts, dict[str, Any], bool], dict[str, Any]]


def assert_steps_like(step: Step, memory: Memory[Any, Any], state: Any, scale: float = 1.0) -> None:
    """The memory, run on a batch, has at every step the state that the loops of ``step`` give for each sample."""
    writes = [True, True, False, True, True, False, False, True]
    batch = state.memory.shape[0]
    vectors = scale * draw(len(writes), batch, memory.interface_size, seed=99)
    states = run(memory, vectors, state, writes)
    for sample in range(batch):
        expected = {name: part[sample].tolist() for name, part in state._asdict().items()}
        for vector, actual, write in zip(vectors[:, sample].tolist(), states, writes, strict=True):
            parts = Parts(vector)
            expected = step(memory, parts, expected, write)
            parts.finish()
            assert expected.keys() == actual._asdict().keys()
            for name, part in actual._asdict().items():
                assert_close(part[sample], expected[name])
