import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.theory.clusters import principal_components, silhouette


def silhouette_in_a_loop(points: list[list[float]], labels: list[int]) -> float:
    widths = []
    for here, label in zip(points, labels, strict=True):
        means = {}
        for other in set(labels):
            members = [point for point, its in zip(points, labels, strict=True) if its == other]
            distances = [math.dist(here, point) for point in members]
            means[other] = sum(distances) / max(1, len(members) - (other == label))
        a = means.pop(label)
        b = min(means.values())
        widths.append(0.0 if labels.count(label) == 1 or max(a, b) == 0 else (b - a) / max(a, b))
    return sum(widths) / len(widths)


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(1, 5), st.integers(2, 4), st.integers(0, 1000))
def test_silhouette_against_a_loop(count: int, size: int, kinds: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    points = torch.randint(-2, 3, (count, size), generator=generator).float()  # some of which fall together
    labels = 3 * torch.randint(kinds, (count,), generator=generator)
    if len(set(labels.tolist())) == 1:
        assert math.isnan(silhouette(points, labels))
    else:
        assert silhouette(points, labels) == pytest.approx(silhouette_in_a_loop(points.tolist(), labels.tolist()))


def test_silhouettes_by_hand() -> None:
    points = torch.tensor([[0.0, 0.0], [0.0, 1.0], [10.0, 0.0], [10.0, 1.0]])
    apart, crossed = (silhouette(points, torch.tensor(labels)) for labels in ([0, 0, 1, 1], [0, 1, 0, 1]))
    assert apart == pytest.approx(1 - 1 / ((10 + 101**0.5) / 2))
    assert crossed < 0
    assert silhouette(1e4 * points, torch.tensor([0, 0, 1, 1])) == pytest.approx(apart)
    assert silhouette(torch.zeros(4, 2), torch.tensor([0, 0, 1, 1])) == 0.0
    assert silhouette(points[:2], torch.tensor([0, 1])) == 0.0


def test_of_many_points_distances_are_exact() -> None:
    """Two clouds far from the origin: squared norms would swallow what parts them."""
    near = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points = torch.cat([near, near + torch.tensor([100.0, 0.0, 0.0])])
    labels = torch.arange(2).repeat_interleave(40)
    assert silhouette(points + 1e8, labels) == pytest.approx(silhouette(points, labels), abs=1e-6)


@settings(deadline=None)
@given(st.integers(3, 20), st.integers(2, 6), st.integers(0, 1000))
def test_components_are_eigenvectors_of_the_covariance(count: int, size: int, seed: int) -> None:
    points = torch.randn(count, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    projected, shares = principal_components(points)
    values, vectors = torch.linalg.eigh(points.T.cov(correction=0))
    largest = values.flip(0)[:2]
    assert projected.shape == (count, 2)
    torch.testing.assert_close(projected.square().mean(0), largest)
    torch.testing.assert_close(shares, largest / values.sum())
    centred = points - points.mean(0)
    torch.testing.assert_close(projected.abs(), (centred @ vectors.flip(1)[:, :2]).abs(), rtol=1e-4, atol=1e-4)


def test_points_that_fall_together_have_no_components() -> None:
    projected, shares = principal_components(torch.ones(4, 3))
    assert not projected.any()
    assert not shares.any()


def test_components_do_not_flip() -> None:
    points = torch.tensor([[0.0, 0.0], [2.0, 0.1], [4.0, 0.0]])
    assert principal_components(points).points[:, 0].tolist() == pytest.approx([-2.0, 0.0, 2.0], abs=0.01)
    torch.testing.assert_close(principal_components(points + 7).points, principal_components(points).points)
    first, mirrored = (principal_components(factor * points).points for factor in (1, -1))
    torch.testing.assert_close(first[:, 0], -mirrored[:, 0])
