"""RMSProp on the kernels is torch's."""

from collections.abc import Sequence

import pytest
import torch
from torch import nn

from mnemon.native import rmsprop
from mnemon.native.rmsprop import RMSProp, covers
from mnemon.training.config import TrainConfig
from mnemon.training.optimiser import make_optimiser

SHAPES: Sequence[tuple[int, ...]] = [(), (1,), (3, 5), (17, 33), (0, 4)]


def parameters(dtype: torch.dtype) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(shape, generator=generator, dtype=dtype)) for shape in SHAPES]


def take_steps(optimiser: torch.optim.Optimizer, seed: int, steps: int = 20) -> None:
    """With the same gradients for all that have the seed, from 1e20 to nothing; the third has none at first."""
    generator = torch.Generator().manual_seed(seed)
    owned = optimiser.param_groups[0]["params"]
    for step in range(steps):
        for index, parameter in enumerate(owned):
            gradient = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.grad = None if index == 2 and step < 5 else gradient * 10.0 ** (20 - 4 * step)
        optimiser.step()


def close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    tolerance = 1e-5 if ours.dtype == torch.float32 else 1e-13
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_each_goes_on_with_what_the_other_remembers(dtype: torch.dtype, momentum: float) -> None:
    ours, theirs = (
        kind(parameters(dtype), lr=0.1, alpha=0.9, momentum=momentum) for kind in (RMSProp, torch.optim.RMSprop)
    )
    for seed in range(3):
        take_steps(ours, seed)
        take_steps(theirs, seed)
        for own, other in zip(ours.param_groups[0]["params"], theirs.param_groups[0]["params"], strict=True):
            close(own.detach(), other.detach())
            assert ours.state[own].keys() == theirs.state[other].keys()
            for name, number in ours.state[own].items():
                close(number, theirs.state[other][name])
        mine = ours.state_dict()
        ours.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(mine)


def test_gradients_may_lie_in_any_order() -> None:
    (ours,), (theirs,) = ([nn.Parameter(torch.zeros(3, 4))] for _ in range(2))
    for parameter, kind in ((ours, RMSProp), (theirs, torch.optim.RMSprop)):
        parameter.grad = torch.arange(12.0).view(4, 3).T
        kind([parameter]).step()
    close(ours.detach(), theirs.detach())


def test_what_the_kernels_do_not_cover_is_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TrainConfig(optimiser="rmsprop")
    plain = [nn.Parameter(torch.zeros(3, 4))]
    assert type(make_optimiser(config, plain)) is RMSProp
    for other in (torch.zeros(3, 4).T, torch.zeros(3, dtype=torch.bfloat16), torch.zeros(3, device="meta")):
        assert not covers([*plain, nn.Parameter(other)])
        assert type(make_optimiser(config, [*plain, nn.Parameter(other)])) is torch.optim.RMSprop
    monkeypatch.setattr(rmsprop, "LIBRARY", None)
    assert type(make_optimiser(config, plain)) is torch.optim.RMSprop
