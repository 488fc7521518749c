"""Clusters in a space of states (thesis, appendix "Clustering on The Latent Space"): how to see and to measure them.

The thesis judges by eye how well states of different phases part. The mean silhouette (Rousseeuw, 1987) puts it into a
number that two models can be compared by, whatever the size of their states: 1 where each phase is a point of its own,
0 where they lie over one another.

Letters: ``K`` points, ``H`` numbers of a point, ``C`` components.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

TINY = 1e-300  # for points that all fall together


class Projection(NamedTuple):
    """Points on their principal components, and the share of the variance that each of these has."""

    points: Float[Tensor, "K C"]
    shares: Float[Tensor, "C"]


def principal_components(points: Float[Tensor, "K H"], count: int = 2) -> Projection:
    """The first components. Each points to where the largest of its weights is positive, so that none flips."""
    centred = points.double() - points.double().mean(0)
    _, sizes, directions = torch.linalg.svd(centred, full_matrices=False)
    first = directions[:count]
    largest = first.take_along_dim(first.abs().argmax(1, keepdim=True), dim=1)
    variances = sizes.square()
    return Projection(centred @ (first * largest.sign()).T, (variances / variances.sum().clamp_min(TINY))[:count])


def silhouette(points: Float[Tensor, "K H"], labels: Int[Tensor, "K"]) -> float:
    """The mean over all points of (b − a) / max(a, b); NaN where all have one label.

    a is a point's mean distance to the others of its label, b to those of the nearest other label. A point that is
    alone with its label counts as 0.
    """
    _, labels = torch.unique(labels, return_inverse=True)
    members = one_hot(labels).double()
    if members.shape[1] < 2:
        return math.nan
    exact = "donot_use_mm_for_euclid_dist"
    distances = torch.cdist(points.double(), points.double(), compute_mode=exact)
    sums, counts = distances @ members, members.sum(0)
    own = members > 0
    within = sums[own] / (counts[labels] - 1).clamp_min(1)
    between = (sums / counts).masked_fill(own, math.inf).amin(1)
    widths = (between - within) / torch.maximum(within, between)
    alone = counts[labels] == 1
    return float(widths.nan_to_num(0.0).masked_fill(alone, 0.0).mean())
