"""Priors and posteriors against loops, and mode weightings at their edges."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon.cell import CellState
from mnemon.errors import UserError
from mnemon.memory import DNCMemory
from mnemon.models import latent

several = settings(deadline=None, max_examples=30, derandomize=True)
attentions = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def state_of(reads: Tensor, read_weights: Tensor, hidden: Tensor | None = None) -> CellState:
    memory = DNCMemory(read_weights.shape[2], reads.shape[2], reads.shape[1]).init_state(len(reads))
    controller: Any = None if hidden is None else type("Controller", (), {"hidden": hidden})
    return CellState(controller, memory._replace(reads=reads, read_weights=read_weights), None)


def softplus(number: float) -> float:
    return math.log1p(math.exp(number)) + 1e-6


def test_the_mixture_prior_is_the_reads_taken_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    reads = torch.randn(2, 3, 4, generator=generator)
    weights = torch.softmax(torch.randn(2, 3, 5, generator=generator), dim=2)
    belief = latent.ReadPrior(4)(state_of(reads, weights))
    for row in range(2):
        sharp = [max(weights[row, head].tolist()) + 1e-6 for head in range(3)]
        summary = [0.0] * 4
        for head in range(3):
            share = sharp[head] / sum(sharp)
            assert float(belief.prior.weights[row, head]) == pytest.approx(share, rel=1e-5)
            numbers = reads[row, head].tolist()
            assert belief.prior.mean[row, head].tolist() == pytest.approx(numbers[:2])
            assert belief.prior.sd[row, head].tolist() == pytest.approx([softplus(number) for number in numbers[2:]])
            summary = [so_far + share * number for so_far, number in zip(summary, numbers, strict=True)]
        assert belief.summary[row].tolist() == pytest.approx(summary, abs=1e-6)


def test_each_mode_maps_what_its_head_reads() -> None:
    torch.manual_seed(0)
    prior = latent.MappedPrior(5, 2, 3)
    torch.nn.init.normal_(prior.maps)
    reads = torch.randn(1, 1, 5).expand(4, 2, 5)  # heads that read alike
    with torch.no_grad():
        belief = prior(state_of(reads, torch.full((4, 2, 3), 1 / 3)))
    maps, places = prior.maps.detach(), prior.places.detach()
    modes = [
        [sum(map(float, reads[0, head] * maps[head, :, place])) + float(places[head, place]) for place in range(7)]
        for head in range(2)
    ]
    total = sum(math.exp(mode[-1]) for mode in modes)
    for head, numbers in enumerate(modes):
        assert belief.prior.mean[0, head].tolist() == pytest.approx(numbers[:3], abs=1e-5)
        assert belief.prior.sd[0, head].tolist() == pytest.approx([softplus(number) for number in numbers[3:6]], 1e-4)
        weight = 0.25 + 0.5 * math.exp(numbers[6]) / total
        assert float(belief.prior.weights[0, head]) == pytest.approx(weight, rel=1e-5)
    assert torch.allclose(belief.summary, reads[:, 0])


def test_mapped_modes_begin_apart_and_keep_a_weight() -> None:
    torch.manual_seed(0)
    prior = latent.MappedPrior(4, 8, 2)
    mean, sd = prior.places[:, :2].detach(), softplus(0.0)
    distances = torch.pdist(mean)
    assert float(distances.median()) > 2 * sd
    state = state_of(torch.zeros(1, 8, 4), torch.zeros(1, 8, 3))
    assert prior(state).prior.weights.tolist() == [pytest.approx([1 / 8] * 8)]
    with torch.no_grad():
        prior.places[0, -1] = 1e4  # as if one had everything
    assert prior(state).prior.weights.tolist() == [pytest.approx([0.5 + 1 / 16] + [1 / 16] * 7)]


def test_the_posterior_is_linear_in_summary_and_utterance() -> None:
    posterior = latent.Posterior(3, 2, 2).double()
    summary, heard = torch.randn(4, 3).double(), torch.randn(4, 2).double()
    found = posterior(summary, heard)
    weight, bias = posterior.network.weight, posterior.network.bias
    for row in range(4):
        seen = [*summary[row].tolist(), *heard[row].tolist()]
        rows = [sum(w * x for w, x in zip(line, seen, strict=True)) for line in weight.tolist()]
        numbers = [number + shift for number, shift in zip(rows, bias.tolist(), strict=True)]
        assert found.mean[row].tolist() == pytest.approx(numbers[:2])
        assert found.sd[row].tolist() == pytest.approx([softplus(number) for number in numbers[2:]])


def test_the_gaussian_prior_is_one_mode_of_the_state() -> None:
    prior = latent.HiddenPrior(3, 2)
    hidden = torch.randn(4, 3)
    belief = prior(state_of(torch.zeros(4, 1, 2), torch.zeros(4, 1, 2), hidden))
    assert belief.prior.mean.shape == (4, 1, 2)
    assert not belief.prior.log_weights.any()
    assert torch.equal(belief.summary, hidden)


@several
@given(attentions, st.sampled_from(sorted(latent.WEIGHTINGS)))
def test_weights_sum_to_one(attention: list[float], name: str) -> None:
    weights = latent.WEIGHTINGS[name](torch.tensor([attention], dtype=torch.float64))
    assert (weights >= 0).all()
    assert float(weights.sum()) == pytest.approx(1)


@several
@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.integers(0, 100))
def test_sparse_weights_are_the_nearest_point_of_the_simplex(attention: list[float], seed: int) -> None:
    scores = latent.SHARPNESS * torch.tensor([attention], dtype=torch.float64)
    found = latent.sparse(scores / latent.SHARPNESS)
    generator = torch.Generator().manual_seed(seed)
    others = torch.rand(200, len(attention), generator=generator, dtype=torch.float64) ** 4
    others = others / others.sum(1, keepdim=True)
    best = (others - scores).square().sum(1).min()
    assert (found - scores).square().sum() <= best + 1e-9


def test_modes_drop_out_where_a_head_is_sharp() -> None:
    sharp = torch.tensor([[1.0, 0.4, 0.4], [0.5, 0.5, 0.5]])
    assert latent.sparse(sharp).count_nonzero(1).tolist() == [1, 3]
    assert latent.stick_breaking(sharp).tolist() == [[1, 0, 0], [0.5, 0.25, 0.25]]
    assert latent.normalised(torch.zeros(1, 4)).tolist() == [pytest.approx([0.25] * 4)]
    assert latent.normalised(sharp).count_nonzero(1).tolist() == [3, 3]


@pytest.mark.parametrize("name", ["max", "sparse", "stick-breaking"])
def test_gradients_of_weightings(name: str) -> None:
    attention = torch.tensor([[0.9, 0.35, 0.6], [0.2, 0.3, 0.25]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(latent.WEIGHTINGS[name], (attention,))


def test_gradients_of_maps() -> None:
    prior = latent.MappedPrior(3, 2, 2).double()
    reads = torch.randn(2, 2, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.full((2, 2, 4), 0.25, dtype=torch.float64)

    def run(reads: Tensor, maps: Tensor) -> Any:
        return torch.func.functional_call(prior, {"maps": maps}, (state_of(reads, weights),)).prior

    assert torch.autograd.gradcheck(lambda *given: tuple(run(*given)), (reads, prior.maps.detach().requires_grad_()))


@pytest.mark.parametrize("name", [*latent.WEIGHTINGS, "mapped"])
def test_extremes_stay_finite(name: str) -> None:
    for scale in (0.0, 1e4, -1e4):
        reads = torch.full((1, 2, 4), scale, requires_grad=True)
        prior = latent.MappedPrior(4, 2, 3) if name == "mapped" else latent.ReadPrior(4, weighting=name)
        belief = prior(state_of(reads, torch.zeros(1, 2, 3)))
        assert (belief.prior.sd > 0).all()
        (belief.prior.sd.log().sum() + belief.prior.weights.sum()).backward()
        assert reads.grad is not None
        assert reads.grad.isfinite().all()


def test_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="write an even word in place of 5"):
        latent.ReadPrior(5)
    with pytest.raises(UserError, match="no mode weighting is called 'maximum'"):
        latent.ReadPrior(4, weighting="maximum")
