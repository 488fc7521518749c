import math

import pytest
import torch
from torch.nn import functional

from mnemon.associative.modern_hopfield import ModernHopfieldMemory, attend, energy, update
from mnemon.errors import UserError


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_against_loops() -> None:
    patterns, state = drawn(3, 4), drawn(1, 4, seed=1)
    scores = [math.exp(0.7 * float(pattern @ state[0])) for pattern in patterns]
    expected = sum(score / sum(scores) * pattern for score, pattern in zip(scores, patterns, strict=True))
    torch.testing.assert_close(update(patterns, state, sharpness=0.7)[0], expected)
    expected_energy = -math.log(sum(scores)) / 0.7 + 0.5 * float(state[0] @ state[0])
    assert float(energy(patterns, state, sharpness=0.7)) == pytest.approx(expected_energy)


def test_one_update_is_softmax_attention() -> None:
    queries, keys, values = drawn(2, 5, 4), drawn(2, 6, 4, seed=1), drawn(2, 6, 3, seed=2)
    theirs = functional.scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(attend(queries, keys, values, sharpness=1 / 2), theirs)
    memory = ModernHopfieldMemory(key_size=4)
    torch.testing.assert_close(memory.decode(queries, memory.store(keys, values)), theirs)


@pytest.mark.parametrize("sharpness", [0.1, 1.0, 30.0])
def test_energy_never_rises(sharpness: float) -> None:
    patterns, states = drawn(8, 5), drawn(6, 5, seed=1)
    for _ in range(20):
        after = update(patterns, states, sharpness=sharpness)
        assert (
            energy(patterns, after, sharpness=sharpness) <= energy(patterns, states, sharpness=sharpness) + 1e-12
        ).all()
        states = after


@pytest.mark.parametrize("units", [20, 30])
def test_exponentially_many_patterns_in_one_step(units: int) -> None:
    """2^{N/3} patterns of ±1, most units of each right in one step; far above 0.138 N."""
    generator = torch.Generator().manual_seed(0)
    count = 2 ** (units // 3)
    patterns = torch.randint(0, 2, (count, units), generator=generator).double() * 2 - 1
    found = update(patterns, patterns, sharpness=2.0).sign()
    assert count > 3 * units
    assert float((found != patterns).double().mean()) < 0.001


def test_dull_memories_return_the_mean() -> None:
    patterns = drawn(4, 3)
    mean = patterns.mean(dim=0, keepdim=True)
    torch.testing.assert_close(update(patterns, drawn(1, 3, seed=1), sharpness=1e-12), mean)


def test_bad_input() -> None:
    with pytest.raises(UserError, match="key_size must be at least 1, got 0"):
        ModernHopfieldMemory(key_size=0)
    with pytest.raises(UserError, match="sharpness is -1: write a number above 0, or none for"):
        ModernHopfieldMemory(key_size=2, sharpness=-1.0)
    with pytest.raises(UserError, match="keys have 3 numbers, not key_size 2"):
        ModernHopfieldMemory(key_size=2).store(drawn(2, 3), drawn(2, 3))
