"""What a trained model keeps of each input: contribution profiles (thesis §6.3.1) of all that can be looked at in it.

Letters: ``T`` time, ``B`` batch, ``I`` input, ``S`` numbers of the observed state.
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.models.baseline import LSTMBaseline
from mnemon.rnn import MANN
from mnemon.theory import contribution


def measure_profiles(
    model: nn.Module, inputs: Float[Tensor, "T B I"], *, shown: int | None = None, probes: int | None = None
) -> list[dict[str, Any]]:
    """The profile of each state of the model and λ, fitted in two ways; the first is what a memory is written with.

    States are those after the first steps, as many as are ``shown``. Where these are not all, the last profile is of
    the answer: all that the model puts out from then on.
    ``probes`` are the random directions of :func:`~mnemon.theory.contribution.contributions`.
    """
    shown = len(inputs) if shown is None else shown
    observed = [(name, observe, inputs[:shown]) for name, observe in _observers(model).items()]
    if shown < len(inputs):
        observed.append(("answer", contribution.outputs_after(shown), inputs))
    return [_measure(name, model, observe, given, shown, probes) for name, observe, given in observed]


def steps_shown(inputs: Float[Tensor, "T B I"]) -> int:
    """The steps up to the last at which anything is shown, or all; what follows them asks for an answer."""
    return len(inputs) - int(inputs.flip(0).flatten(1).any(1).int().argmax())


def controller_alone(model: nn.Module, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "B S"]:
    """The controller's last state with what it reads held fixed: what it keeps by itself, between two writes.

    A writing policy that puts another hidden state in its place, as cached uniform writing does, is not followed.
    """
    assert isinstance(model, MANN)
    cell = model.cell
    state = cell.init_state(inputs.shape[1])
    alone = state.controller
    for step in inputs:
        alone = cell.controller(torch.cat([step, state.memory.reads.detach().flatten(1)], dim=1), alone)
        with torch.no_grad():
            _, state = cell.step(step, state)
    return torch.cat([part.flatten(1) for part in alone], dim=1)


def _observers(model: nn.Module) -> dict[str, contribution.Observe]:
    if isinstance(model, MANN):
        return {
            "controller": controller_alone,
            "whole state": contribution.whole_state,
            "output": contribution.last_output,
        }
    if isinstance(model, LSTMBaseline):
        return {"controller": contribution.torch_state, "output": contribution.last_output}
    return {"output": contribution.last_output}


def _measure(
    name: str,
    model: nn.Module,
    observe: contribution.Observe,
    inputs: Float[Tensor, "T B I"],
    shown: int,
    probes: int | None,
) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(0)
    measured = contribution.contributions(model, inputs, observe=observe, probes=probes, generator=generator)
    profile = contribution.mean_profile(measured[:shown])
    matched, slope = contribution.sum_matched_decay(profile), contribution.log_slope_decay(profile)
    bound = contribution.premise_bound(profile)
    return {
        "of": name,
        "lambda_sum": matched.decay,
        "r2_sum": matched.r_squared,
        "lambda_slope": slope.decay,
        "r2_slope": slope.r_squared,
        "premise_bound": bound if math.isfinite(bound) else None,
        "average": contribution.average(profile),
        "share": contribution.average(profile) / profile[-1],
        "contributions": profile,
    }
