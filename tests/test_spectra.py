"""Matrices of a given spectral radius."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from mnemon import spectra
from mnemon.errors import UserError

Make = Callable[[int, float, torch.Generator], Tensor]
KINDS: dict[str, Make] = {
    "random": spectra.random_matrix,
    "orthogonal": spectra.orthogonal_matrix,
    "symmetric": spectra.symmetric_matrix,
}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def power_iteration(matrix: Tensor, steps: int = 4000) -> float:
    """ρ(W) = lim ‖Wⁿ‖^{1/n}, step by step in logarithms."""
    logarithm, power = 0.0, torch.eye(len(matrix), dtype=torch.float64)
    for _ in range(steps):
        power = matrix @ power
        norm = power.norm().item()
        logarithm, power = logarithm + math.log(norm), power / norm
    return math.exp(logarithm / steps)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_the_radius_is_the_one_asked_for(kind: str, size: int) -> None:
    matrix = KINDS[kind](size, 0.7, generator())
    assert spectra.spectral_radius(matrix) == pytest.approx(0.7)
    assert power_iteration(matrix) == pytest.approx(0.7, rel=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_generator_decides(kind: str) -> None:
    make = KINDS[kind]
    assert torch.equal(make(5, 0.9, generator(3)), make(5, 0.9, generator(3)))
    assert not torch.equal(make(5, 0.9, generator(3)), make(5, 0.9, generator(4)))


def is_normal(matrix: Tensor) -> bool:
    return torch.allclose(matrix @ matrix.T, matrix.T @ matrix)


def test_which_are_normal() -> None:
    rotation, symmetric = spectra.orthogonal_matrix(6, 0.9, generator()), spectra.symmetric_matrix(6, 0.9, generator())
    torch.testing.assert_close(rotation @ rotation.T, 0.81 * torch.eye(6, dtype=torch.float64))
    assert torch.equal(symmetric, symmetric.T)
    assert is_normal(rotation)
    assert is_normal(symmetric)
    assert not is_normal(spectra.random_matrix(6, 0.9, generator()))
    assert not is_normal(spectra.delay_line(6, 2.0))


def test_rotations_are_drawn_evenly() -> None:
    """The mean of all rotations is 0; without the signs of the triangle it is not."""
    source = generator()
    mean = torch.stack([spectra.orthogonal_matrix(2, 1.0, source) for _ in range(2000)]).mean(0)
    assert mean.abs().max() < 0.08  # five standard errors


def test_density_is_the_share_of_numbers_that_are_not_zero() -> None:
    matrix = spectra.random_matrix(100, 0.9, generator(), density=0.1)
    assert (matrix != 0).double().mean().item() == pytest.approx(0.1, abs=0.01)


def test_delay_line_hands_on() -> None:
    line, state = spectra.delay_line(4, 4.0), torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=torch.float64)
    for place in range(1, 4):
        state = line @ state
        assert state.tolist() == [2.0**place if unit == place else 0.0 for unit in range(4)]
    assert (line @ state == 0).all()
    assert spectra.spectral_radius(line) == 0
    assert spectra.delay_line(1, 4.0).tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectra.random_matrix(0, 0.9, generator()), "size must be at least 1, got 0"),
        (lambda: spectra.orthogonal_matrix(3, -0.1, generator()), "radius must be finite and at least 0, got -0.1"),
        (lambda: spectra.symmetric_matrix(3, math.inf, generator()), "radius must be finite and at least 0, got inf"),
        (lambda: spectra.random_matrix(3, 0.9, generator(), density=0.0), "density must be above 0 and at most 1"),
        (
            lambda: spectra.random_matrix(3, 0.9, generator(), density=1e-9),
            "3 units have no loop to carry a memory: take more units, or a higher density",
        ),
        (lambda: spectra.delay_line(3, 0.0), "a power above 0, got 3 and 0.0"),
    ],
)
def test_bad_settings_say_what_to_write(call: Callable[[], Tensor], message: str) -> None:
    with pytest.raises(UserError, match=message):
        call()
