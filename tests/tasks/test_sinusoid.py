from math import pi, sin

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import Sinusoid
from mnemon.tasks.sinusoid import sinusoid


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 1000))
def test_the_curve_against_a_loop(steps: int, rows: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    amplitude, frequency, phase = (torch.rand(rows, generator=generator) * size for size in (5, 30, 100))
    x = torch.rand(steps, rows, generator=generator) / 5
    found = sinusoid(amplitude, frequency, phase, x)
    for t in range(steps):
        for b in range(rows):
            angle = 2 * pi * float(frequency[b]) * float(x[t, b]) + float(phase[b])
            assert float(found[t, b]) == pytest.approx(5 + float(amplitude[b]) * sin(angle), abs=1e-3)


@given(st.integers(1, 6), st.integers(1, 3), st.floats(0, 3), st.integers(0, 1000))
def test_a_batch_against_a_loop(length: int, rows: int, noise: float, seed: int) -> None:
    batch = Sinusoid(length=length, noise=noise).sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == (2 * length, rows, 1)
    generator = torch.Generator().manual_seed(seed)
    amplitude, frequency, phase = torch.rand(3, rows, generator=generator).tolist()
    jitter = torch.rand(2 * length, rows, generator=generator).tolist()
    disturbance = torch.rand(length, rows, generator=generator).tolist()
    for b in range(rows):
        for t in range(2 * length):
            x = (t + 1 + (2 * jitter[t][b] - 1)) / 1000
            angle = 2 * pi * (10 + 20 * frequency[b]) * x + 100 * phase[b]
            y = 5 + (1 + 4 * amplitude[b]) * sin(angle)
            shown = y + noise * (2 * disturbance[t][b] - 1) if t < length else 0
            assert float(batch.inputs[t, b, 0]) == pytest.approx(shown, abs=1e-3)
            assert float(batch.targets[t, b, 0]) == pytest.approx(y if t >= length else 0, abs=1e-3)
            assert float(batch.mask[t, b]) == (t >= length)


def test_the_ranges_of_the_thesis() -> None:
    batch = Sinusoid().sample(2000, torch.Generator().manual_seed(0))
    points = batch.inputs[:100, :, 0]
    amplitudes = (points.amax(0) - points.amin(0)) / 2  # a hundred points cover one period or more
    assert 0.95 < float(amplitudes.min()) < 1.1
    assert 4.9 < float(amplitudes.max()) <= 5.001
    assert float(amplitudes.mean()) == pytest.approx(3, abs=0.1)
    crossings = ((points[1:] > 5) != (points[:-1] > 5)).sum(0)
    assert int(crossings.min()) >= 2


def test_noise_is_in_the_input_only() -> None:
    generators = [torch.Generator().manual_seed(3) for _ in range(2)]
    clean = Sinusoid().sample(50, generators[0])
    noisy = Sinusoid(noise=2.0).sample(50, generators[1])
    assert torch.equal(clean.targets, noisy.targets)
    difference = (noisy.inputs - clean.inputs)[:100]
    assert -2 <= float(difference.min()) < -1.95
    assert 1.95 < float(difference.max()) <= 2
    assert float(difference.var()) == pytest.approx(4 / 3, rel=0.05)
    assert not noisy.inputs[100:].any()


def test_points_are_jittered_one_by_one() -> None:
    batch = Sinusoid().sample(1, torch.Generator().manual_seed(0))
    smooth = batch.inputs[:100, 0, 0]
    bends = (smooth[2:] - 2 * smooth[1:-1] + smooth[:-2]).sign()
    assert int((bends[1:] != bends[:-1]).sum()) > 20


def test_scores_against_a_loop() -> None:
    task = Sinusoid(length=3)
    batch = task.sample(2, torch.Generator().manual_seed(0))
    output = torch.randn(6, 2, 1, generator=torch.Generator().manual_seed(1))
    squares = [float(output[t, b, 0] - batch.targets[t, b, 0]) ** 2 for t in range(3, 6) for b in range(2)]
    assert float(task.loss(output, batch)) == pytest.approx(sum(squares) / 6)
    assert task.metrics(output, batch) == {"mse": pytest.approx(sum(squares) / 6)}
    assert task.metrics(batch.targets, batch) == {"mse": 0.0}


def test_rendering() -> None:
    task = Sinusoid(length=2)
    batch = task.sample(1, torch.Generator().manual_seed(0))
    lines = task.render(batch, 0, batch.targets + 0.5).splitlines()
    assert [line.split()[0] for line in lines] == ["asked", "input", "target", "answer", "mean"]
    assert lines[0] == "asked      ··▲▲"
    assert lines[2].startswith("target  y  ··")
    assert lines[4] == "mean squared error 0.25"
