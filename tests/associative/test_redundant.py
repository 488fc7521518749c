import pytest
import torch

from mnemon.associative.holographic import HolographicMemory, random_phases
from mnemon.associative.redundant import RedundantMemory, noise_variance, random_permutations
from mnemon.errors import UserError


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def phases(*shape: int, seed: int = 0) -> torch.Tensor:
    return random_phases(*shape, generator=generator(seed), dtype=torch.complex128)


def test_against_loops() -> None:
    permutations = random_permutations(3, 5, generator=generator())
    keys, values = phases(4, 5), phases(4, 5, seed=1)
    memory = RedundantMemory(permutations=permutations)
    trace = memory.store(keys, values)
    recalled = memory.decode(keys, trace)
    for s in range(3):
        for n in range(5):
            expected = sum(keys[q, permutations[s, n]] * values[q, n] for q in range(4))
            torch.testing.assert_close(trace[s, n], expected)
    for q in range(4):
        for n in range(5):
            said = [keys[q, permutations[s, n]].conj() * trace[s, n] for s in range(3)]
            torch.testing.assert_close(recalled[q, n], sum(said) / 3)


def test_noise_is_as_printed() -> None:
    permutations = random_permutations(3, 6, generator=generator())
    keys, values = phases(2, 6), phases(2, 6, seed=1)
    memory = RedundantMemory(permutations=permutations)
    recalled = memory.decode(keys, memory.store(keys, values))
    mixed = (keys[0].conj() * keys[1])[permutations].mean(dim=0)
    torch.testing.assert_close(recalled[0], values[0] + values[1] * mixed)


def test_one_copy_without_permutation_is_holographic() -> None:
    keys, values = phases(2, 3, 4), phases(2, 3, 4, seed=1)
    one = RedundantMemory(permutations=torch.arange(4)[None])
    torch.testing.assert_close(one.store(keys, values)[..., 0, :], HolographicMemory().store(keys, values))
    torch.testing.assert_close(
        one.decode(keys, one.store(keys, values)),
        HolographicMemory().decode(keys, HolographicMemory().store(keys, values)),
    )


@pytest.mark.parametrize(("pairs", "copies", "size"), [(1, 4, 8), (9, 1, 32), (9, 8, 32), (9, 8, 4)])
def test_noise_variance(pairs: int, copies: int, size: int) -> None:
    """Also where copies often coincide."""
    found = []
    for trial in range(200):
        memory = RedundantMemory(permutations=random_permutations(copies, size, generator=generator(trial)))
        keys, values = phases(pairs, size, seed=1_000 + trial), phases(pairs, size, seed=2_000 + trial)
        found.append((memory.decode(keys, memory.store(keys, values)) - values).abs().square().mean())
    assert float(torch.stack(found).mean()) == pytest.approx(noise_variance(pairs, copies, size), rel=0.1, abs=1e-12)


def test_bad_input() -> None:
    with pytest.raises(UserError, match="copies and size must be at least 1, got 0 and 4"):
        random_permutations(0, 4)
    with pytest.raises(UserError, match="each row of permutations must have every place once"):
        RedundantMemory(permutations=torch.zeros(2, 3, dtype=torch.long))
