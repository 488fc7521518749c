"""The Legendre memory against its differential equation, its published matrices, and what it is for: a delay."""

import math

import pytest
import torch

from mnemon import LegendreMemory, UserError
from mnemon.memory.lmu import delay_matrices, discretise, legendre

from .reference import assert_close, draw, draw_state, run


def test_matrices_as_published() -> None:
    law, entry = delay_matrices(4)
    for i in range(4):
        assert entry[i] == (2 * i + 1) * (-1) ** i
        for j in range(4):
            assert law[i, j] == (2 * i + 1) * (-1 if i < j else (-1) ** (i - j + 1))


@pytest.mark.parametrize(("order", "window"), [(1, 1), (2, 7), (6, 20)])
def test_discretisation_against_the_series_and_the_inverse(order: int, window: int) -> None:
    law, entry = delay_matrices(order)
    transition, held = discretise(law, entry, window)
    term = total = torch.eye(order, dtype=torch.float64)
    for power in range(1, 80):
        term = term @ law / (window * power)
        total = total + term
    torch.testing.assert_close(transition, total, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(held, torch.linalg.solve(law, (total - torch.eye(order).double()) @ entry))


def test_steps_against_small_steps_of_the_equation() -> None:
    """Between two inputs θ ṁ = A m + B u is taken in ten thousand steps of Euler's."""
    memory = LegendreMemory(3, 2, window=5, dtype=torch.float64)
    law, entry = delay_matrices(3)
    start, signals = draw_state(memory, 1), draw(2, 1, 2, seed=7)
    states = run(memory, signals, start)
    for sample in range(1):
        expected = start.reads[sample]
        for signal, state in zip(signals[:, sample], states, strict=True):
            for _ in range(10_000):
                expected = expected + (law @ expected + torch.outer(entry, signal)) / (5 * 10_000)
            torch.testing.assert_close(state.reads[sample], expected, rtol=1e-3, atol=1e-3)


def test_loop() -> None:
    memory = LegendreMemory(3, 2, window=6, dtype=torch.float64)
    start, signals = draw_state(memory, 2), draw(4, 2, 2)
    states = run(memory, signals, start, [True, False, True, True])
    for sample in range(2):
        kept = start.reads[sample].tolist()
        for place, (signal, state) in enumerate(zip(signals[:, sample].tolist(), states, strict=True)):
            if place != 1:
                kept = [
                    [
                        sum(float(memory.transition[n, m]) * kept[m][w] for m in range(3))
                        + float(memory.entry[n]) * signal[w]
                        for w in range(2)
                    ]
                    for n in range(3)
                ]
            assert_close(state.reads[sample], kept)
            assert state.memory is state.reads


@pytest.mark.usefixtures("unchecked")
def test_a_smooth_signal_is_recalled_at_any_delay() -> None:
    window = 60
    memory = LegendreMemory(12, 1, window, dtype=torch.float64)
    time = torch.arange(200, dtype=torch.float64)
    signal = torch.sin(2 * math.pi * time / 50) + 0.5 * torch.cos(2 * math.pi * time / 33)
    last = run(memory, signal.view(-1, 1, 1), memory.init_state(1, dtype=torch.float64))[-1]
    delays = torch.tensor([0.0, 10.0, 30.0, 45.0, 60.0], dtype=torch.float64)
    # an input is held for a step, so that on average it is half a step old
    held = torch.sin(2 * math.pi * (199.5 - delays) / 50) + 0.5 * torch.cos(2 * math.pi * (199.5 - delays) / 33)
    torch.testing.assert_close(memory.recall(last, delays)[0, :, 0], held, rtol=0, atol=0.06)


def test_what_left_the_window_is_forgotten() -> None:
    memory = LegendreMemory(8, 1, window=20, dtype=torch.float64)
    signals = torch.zeros(120, 1, 1, dtype=torch.float64)
    signals[:20] = 1.0
    states = run(memory, signals, memory.init_state(1, dtype=torch.float64))
    assert states[19].reads.norm() > 0.9
    assert states[-1].reads.norm() < 0.02


def test_polynomials() -> None:
    points = torch.linspace(-1, 1, 7, dtype=torch.float64)
    expected = [torch.ones_like(points), points, (3 * points**2 - 1) / 2, (5 * points**3 - 3 * points) / 2]
    torch.testing.assert_close(legendre(4, points), torch.stack(expected, dim=1))
    assert legendre(1, points).shape == (7, 1)


@pytest.mark.parametrize("order", [1, 16, 64])
def test_nothing_grows_without_input(order: int) -> None:
    memory = LegendreMemory(order, 1, window=100, dtype=torch.float64)
    assert torch.linalg.eigvals(memory.transition).abs().max() < 1


def test_bad_windows_are_refused() -> None:
    with pytest.raises(UserError, match="window must be at least 1, got 0"):
        LegendreMemory(3, 2, window=0)
