"""The size of Jacobians along a sequence, exact or by random probes: what contributions and the flow of error share.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``S`` numbers of the observed state, ``P`` directions, ``K`` sources.

A backward pass from a direction v gives vᵀJ for the Jacobian J of what is observed by each source. Up to 256 observed
numbers every unit vector is a direction, and the sum of squares is ‖J‖² exactly. Above it v is of random signs:
E‖vᵀJ‖² = ‖J‖², so that the mean over probes is an unbiased estimate of the square.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError

EXACT_UP_TO = 256  # numbers of the observed state; above it the Jacobian is probed
PROBES = 32
ROWS = 256  # sequences that run at the same time


class Unrolled(NamedTuple):
    """A sequence that has run: what is observed of it, and what that is differentiated by."""

    sources: list[list[Tensor]]  # for each of K the tensors that make it up
    observed: Float[Tensor, "B S"]
    batch_axis: int = 0  # of the sources


Run = Callable[[Float[Tensor, "T B I"]], Unrolled]  # rows of a batch apart, and the same twice


def jacobian_norms(
    run: Run, inputs: Tensor, *, probes: int | None, generator: torch.Generator | None
) -> Float[Tensor, "K B"]:
    """‖∂ observed/∂ source‖, the Frobenius norm, of every source in every sequence, in float64.

    Args:
        run: unrolls a module over inputs of any number of rows.
        inputs: the sequences, (T, B, I).
        probes: random directions for each sequence; None is exact up to 256 observed numbers, and 32 probes above.
        generator: of the random directions.
    """
    if not inputs.is_floating_point() or inputs.dim() != 3 or not inputs.numel():
        given = f"{inputs.dtype} of shape {tuple(inputs.shape)}"
        raise UserError(f"inputs must be floating point, of shape (T, B, I), got {given}: embed tokens first")
    if probes is not None and probes < 1:
        raise UserError(f"probes must be at least 1, or None to choose by size, got {probes}")
    with torch.no_grad():
        size = run(inputs[:, :1]).observed.shape[1]
    if probes is None and size > EXACT_UP_TO:
        probes = PROBES
    batch = inputs.shape[1]
    squares = torch.stack(
        [
            _squared_products(run, inputs, directions.to(inputs))
            for directions in _directions(size, batch, probes, generator)
        ]
    ).sum(0)
    return (squares / (probes or 1)).sqrt()


def state_tensors(state: Any) -> Iterator[Tensor]:
    """All floating point tensors of a nested state."""
    if isinstance(state, Tensor):
        if state.is_floating_point():
            yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from state_tensors(part)


def joined(state: Any, batch_axis: int) -> Float[Tensor, "B S"]:
    """A nested state as one vector for each row of the batch."""
    return torch.cat([part.movedim(batch_axis, 0).flatten(1) for part in state_tensors(state)], dim=1)


def _directions(
    size: int, batch: int, probes: int | None, generator: torch.Generator | None
) -> Iterator[Float[Tensor, "P B S"]]:
    """All unit vectors, or random signs; as many at a time as the rows allow."""
    at_once = max(1, ROWS // batch)
    if probes is None:
        for units in torch.split(torch.eye(size), at_once):
            yield units.unsqueeze(1).expand(-1, batch, -1)
    else:
        for start in range(0, probes, at_once):
            count = min(at_once, probes - start)
            yield torch.randint(0, 2, (count, batch, size), generator=generator) * 2.0 - 1


def _squared_products(
    run: Run, inputs: Float[Tensor, "T B I"], directions: Float[Tensor, "P B S"]
) -> Float[Tensor, "K B"]:
    """Σ_p ‖v_pᵀ J‖²: every direction gets a copy of the batch, so that one backward pass serves them all."""
    count, batch, _ = directions.shape
    with torch.enable_grad():
        sources, observed, axis = run(inputs.detach().repeat(1, count, 1))
    squares = inputs.new_zeros(len(sources), count, batch, dtype=torch.float64)
    if not observed.requires_grad:  # a state that depends on nothing
        return squares.sum(1)
    parts = [part for source in sources for part in source]
    products = iter(torch.autograd.grad(observed, parts, directions.flatten(0, 1), materialize_grads=True))
    for place, source in enumerate(sources):
        for _ in source:
            rows = next(products).double().movedim(axis, 0).flatten(1)
            squares[place] += rows.square().sum(1).reshape(count, batch)
    return squares.sum(1)
