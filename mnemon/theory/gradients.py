"""Back-flow of error: what is left of an error on its way back through time (thesis §2.4.1, Hochreiter's analysis).

Letters: ``T`` time, ``B`` batch, ``I`` input, ``H`` hidden, ``S`` numbers of the state.

An error at the last state reaches the state q steps before it through the Jacobian J = ∂h_T/∂h_{T−q}. For
h_t = f(U h_{t−1} + W x_t) this is a product of q factors F'(t) U, where F' has the slopes of f on its diagonal, so

    ‖J‖ ≤ (f'_max ‖U‖)^q.

The error vanishes where f'_max ‖U‖ < 1, and can only explode where it is above 1. The bound is weak: an error may
vanish under a bound that explodes.

The flow is measured on any module that takes and gives back a state, ``output, state = module(inputs, state)``. It is
‖J‖_F/√S, the root mean square factor by which an error of any direction changes its length on the way: 1 at q = 0, and
never above the spectral norm of J.

Deviations: the thesis bounds one entry of J, |∂ϑ_v/∂ϑ_u| ≤ n (f'_max ‖U‖)^q; for the spectral norm, and so for the
flow, the factor n falls away. The state of an LSTM is h and c, of a memory network also the memory and its weightings.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.state import map_state
from mnemon.theory.jacobians import Unrolled, jacobian_norms, joined, state_tensors

TANH_SLOPE, SIGMOID_SLOPE = 1.0, 0.25  # the steepest that f can be


def error_flow(
    module: nn.Module,
    inputs: Tensor,
    *,
    batch_axis: int = 0,
    probes: int | None = None,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "T B"]:
    """‖∂h_T/∂h_{T−q}‖_F/√S for the distances q = 0 … T − 1, of every sequence, in float64.

    The module must treat the sequences of a batch apart, and give the same twice: call ``eval()`` where it has dropout.

    Args:
        module: what to measure; its parameters are left as they are.
        inputs: the sequences, (T, B, I).
        batch_axis: of the tensors of its state: 0 for a memory network, 1 for nn.RNN, nn.GRU and nn.LSTM.
        probes: random directions for each sequence; by default none, which is exact, up to 256 numbers and 32 above.
        generator: of the random directions.
    """
    if batch_axis not in (0, 1):
        raise UserError(f"batch_axis must be 0, or 1 for the networks of torch.nn, got {batch_axis}")

    def run(sequences: Float[Tensor, "T B I"]) -> Unrolled:
        state: Any = None
        sources = []
        for step in torch.split(sequences, 1):
            _, state = module(step, state)
            state = map_state(_own, state)
            sources.append(list(state_tensors(state)))
        return Unrolled(sources, joined(state, batch_axis), batch_axis)

    norms = jacobian_norms(run, inputs, probes=probes, generator=generator)
    return norms.flip(0) / norms[-1]  # ∂h_T/∂h_T is the identity, of norm √S


def flow_bound(
    recurrent: Float[Tensor, "H H"], distances: int, slope: float = TANH_SLOPE
) -> Float[Tensor, "distances"]:
    """(f'_max ‖U‖)^q for q = 0 … distances − 1, with the spectral norm of the recurrent weights U."""
    if distances < 1 or not slope >= 0:
        raise UserError(f"distances must be at least 1 and slope at least 0, got {distances} and {slope}")
    factor = slope * float(torch.linalg.matrix_norm(recurrent.detach().double(), ord=2))
    return torch.tensor(factor, dtype=torch.float64) ** torch.arange(distances, dtype=torch.float64)


def tanh_slope(hidden: Float[Tensor, "*sequence H"]) -> float:
    """f'_max of a tanh network that went through these states: the largest 1 − h²."""
    return float((1 - hidden.detach().double().square()).max())


def _own(part: Tensor) -> Tensor:
    """The same for this step alone: what a step hands on as it is would else belong to both its sides."""
    own = part.clone()
    return own.requires_grad_() if own.is_floating_point() and not own.requires_grad else own
