"""The optimisers of the thesis, and the clipping that goes before their step."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_value_, clip_grads_with_norm_, get_total_norm

from mnemon.native.rmsprop import RMSProp, covers
from mnemon.training.config import TrainConfig


def make_optimiser(config: TrainConfig, parameters: Sequence[nn.Parameter]) -> torch.optim.Optimizer:
    """Each in its fastest form that runs on the CPU as well: fused Adam takes a fifth of the plain one's time."""
    if config.optimiser == "adam":
        return torch.optim.Adam(parameters, lr=config.learning_rate, fused=True)
    rmsprop = RMSProp if covers(parameters) else torch.optim.RMSprop
    return rmsprop(
        parameters,
        lr=config.learning_rate,
        alpha=config.rmsprop_alpha,
        momentum=config.rmsprop_momentum,
        foreach=True,
    )


def gradient_norm(config: TrainConfig, parameters: Sequence[nn.Parameter]) -> Tensor:
    """The length of all gradients as one vector: not finite as soon as one of their elements is not.

    Over hundreds of steps gradients can grow beyond what single precision can square, though it still holds them. What
    will be clipped is then added up in double precision; else the optimiser, which squares them too, must not see them.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = get_total_norm(gradients)
    if norm.isfinite() or not _bounds(config):
        return norm
    return get_total_norm([gradient.double() for gradient in gradients])


def clip(config: TrainConfig, parameters: Sequence[nn.Parameter], norm: Tensor) -> None:
    """Clip the elements first and all of them last, so that each bound holds for what the optimiser is given.

    ``norm`` is that of the gradients as they are: where it is within all bounds, so is each of them.
    """
    if norm <= min(_bounds(config), default=math.inf):
        return
    if config.clip_value is not None:
        clip_grad_value_(parameters, config.clip_value)
    if config.clip_each is not None:
        for parameter in parameters:
            clip_grads_with_norm_([parameter], config.clip_each, gradient_norm(config, [parameter]))
    if config.clip_norm is not None:
        unchanged = config.clip_value is None and config.clip_each is None
        clip_grads_with_norm_(parameters, config.clip_norm, norm if unchanged else gradient_norm(config, parameters))


def _bounds(config: TrainConfig) -> list[float]:
    return [bound for bound in (config.clip_value, config.clip_each, config.clip_norm) if bound is not None]


def set_learning_rate(config: TrainConfig, optimiser: torch.optim.Optimizer, step: int) -> None:
    """The full rate, and over the last ``anneal`` share of the steps a straight line down to zero."""
    falling = config.anneal * config.steps
    share = min(1.0, (config.steps - step + 1) / falling) if falling else 1.0
    for group in optimiser.param_groups:
        group["lr"] = config.learning_rate * share
