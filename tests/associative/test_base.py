"""What holds for every associative memory: ⊗, ⊕ and • are enough, batches stay apart, gradients are right."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from mnemon.associative import (
    AssociativeMemory,
    ConvolutionMemory,
    CorrelationMemory,
    FastWeightMemory,
    HolographicMemory,
    HopfieldMemory,
    ModernHopfieldMemory,
    RedundantMemory,
    SparseDistributedMemory,
    compose_all,
)
from mnemon.associative.redundant import random_permutations
from mnemon.errors import UserError

K, V = 7, 5


class Case(NamedTuple):
    memory: AssociativeMemory
    kind: str  # of numbers: real, complex, bits or signs
    value_size: int = V


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


BITS = torch.randint(0, 2, (11, K), generator=generator()).double()
CASES = {
    "correlation": Case(CorrelationMemory(), "real"),
    "correlation as printed": Case(CorrelationMemory(unit_keys=False), "real"),
    "holographic": Case(HolographicMemory(), "complex", K),
    "holographic, exact": Case(HolographicMemory(conjugate=False), "complex", K),
    "convolution": Case(ConvolutionMemory(), "real", K),
    "redundant": Case(RedundantMemory(permutations=random_permutations(3, K, generator=generator())), "complex", K),
    "fast weights": Case(FastWeightMemory(decay=0.5, rate=2.0), "real"),
    "modern Hopfield": Case(ModernHopfieldMemory(key_size=K), "real"),
    "sparse distributed": Case(SparseDistributedMemory(addresses=BITS, radius=3), "bits"),
    "Hopfield": Case(HopfieldMemory(), "signs", K),
}
ALL = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
SMOOTH = pytest.mark.parametrize(
    "case", [pytest.param(case, id=name) for name, case in CASES.items() if case.kind in ("real", "complex")]
)


def draw(kind: str, *shape: int, seed: int = 1) -> Tensor:
    drawn = torch.Generator().manual_seed(seed)
    if kind in ("bits", "signs"):
        bits = torch.randint(0, 2, shape, generator=drawn).double()
        return bits if kind == "bits" else 2 * bits - 1
    dtype = torch.complex128 if kind == "complex" else torch.float64
    return torch.randn(shape, generator=drawn, dtype=dtype)


def pairs(case: Case, *shape: int) -> tuple[Tensor, Tensor]:
    keys = draw(case.kind, *shape, K)
    return keys, keys if case.kind == "signs" else draw(case.kind, *shape, case.value_size, seed=2)


@ALL
@pytest.mark.parametrize("shape", [(1,), (4,), (2, 3), (2, 1, 5)])
def test_storing_is_encoding_and_composing(case: Case, shape: tuple[int, ...]) -> None:
    assert isinstance(case.memory, AssociativeMemory)
    keys, values = pairs(case, *shape)
    torch.testing.assert_close(case.memory.store(keys, values), compose_all(case.memory, keys, values))


@ALL
def test_no_pairs(case: Case) -> None:
    keys, values = pairs(case, 2, 0)
    assert case.memory.store(keys, values).abs().sum() == 0
    with pytest.raises(UserError, match="there is nothing to compose: give at least one pair"):
        compose_all(case.memory, keys, values)


@ALL
def test_batches_stay_apart(case: Case) -> None:
    keys, values = pairs(case, 2, 3)
    trace = case.memory.store(keys, values)
    together = case.memory.decode(keys, trace)
    assert together.shape == values.shape
    for row in range(2):
        alone = case.memory.decode(keys[row], case.memory.store(keys[row], values[row]))
        torch.testing.assert_close(together[row], alone)


@SMOOTH
def test_gradients(case: Case) -> None:
    keys, values = pairs(case, 3)
    probes = draw(case.kind, 2, K, seed=3)
    inputs = tuple(each.requires_grad_() for each in (keys, values, probes))

    def recalled(keys: Tensor, values: Tensor, probes: Tensor) -> Tensor:
        return case.memory.decode(probes, case.memory.store(keys, values))

    assert torch.autograd.gradcheck(recalled, inputs)


@ALL
@pytest.mark.parametrize("single", [True, False])
def test_numbers_keep_their_type(case: Case, single: bool) -> None:
    keys, values = pairs(case, 2)
    if single:
        kept = torch.complex64 if case.kind == "complex" else torch.float32
        keys, values = keys.to(kept), values.to(kept)
        memory = SparseDistributedMemory(addresses=BITS.float(), radius=3) if case.kind == "bits" else case.memory
    else:
        memory = case.memory
    trace = memory.store(keys, values)
    assert (trace.dtype, memory.decode(keys, trace).dtype) == (keys.dtype, keys.dtype)


@SMOOTH
def test_large_and_zero_values_stay_finite(case: Case) -> None:
    divides = case.memory == HolographicMemory(conjugate=False)  # and refuses keys of zero, which its own test tells
    for size in (1e4,) if divides else (0.0, 1e4):
        keys, values = (size * each for each in pairs(case, 3))
        assert torch.isfinite(torch.view_as_real(case.memory.decode(keys, case.memory.store(keys, values)) + 0j)).all()
