import pytest
import torch

from mnemon.associative.fast_weights import FastWeightMemory, refine
from mnemon.errors import UserError


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_against_the_recurrence() -> None:
    states = drawn(6, 4)
    weights = torch.zeros(4, 4, dtype=torch.float64)
    for state in states:
        weights = 0.9 * weights + 0.5 * torch.outer(state, state)
    torch.testing.assert_close(FastWeightMemory(decay=0.9, rate=0.5).store(states, states), weights)


@pytest.mark.parametrize("decay", [0.0, 0.5, 1.0])
def test_attention_to_the_past_is_the_same(decay: float) -> None:
    memory = FastWeightMemory(decay=decay, rate=0.7)
    keys, values, queries = drawn(2, 5, 3), drawn(2, 5, 4, seed=1), drawn(2, 6, 3, seed=2)
    torch.testing.assert_close(memory.attend(queries, keys, values), memory.decode(queries, memory.store(keys, values)))


def test_the_recent_counts_most() -> None:
    keys = torch.eye(3, dtype=torch.float64)
    memory = FastWeightMemory(decay=0.5, rate=1.0)
    found = memory.decode(keys, memory.store(keys, keys)).diagonal()
    assert found.tolist() == [0.25, 0.5, 1.0]
    forgetful = FastWeightMemory(decay=0.0, rate=1.0)
    assert forgetful.decode(keys, forgetful.store(keys, keys)).diagonal().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("layer_norm", [True, False])
def test_refinement_against_a_loop(layer_norm: bool) -> None:
    trace, driven = drawn(2, 4, 4), drawn(2, 4, seed=1)
    refined = refine(trace, driven, rounds=3, layer_norm=layer_norm)
    for row in range(2):
        state = torch.tanh(driven[row])
        for _ in range(3):
            told = driven[row] + trace[row] @ state
            if layer_norm:
                told = (told - told.mean()) / (told.var(unbiased=False) + 1e-5).sqrt()
            state = torch.tanh(told)
        torch.testing.assert_close(refined[row], state)


def test_no_round_and_no_memory_are_the_plain_network() -> None:
    trace, driven = drawn(4, 4), drawn(4, seed=1)
    assert torch.equal(refine(trace, driven, rounds=0), torch.tanh(driven))
    assert torch.equal(refine(torch.zeros_like(trace), driven, rounds=3), torch.tanh(driven))
    assert torch.equal(refine(trace, driven, rounds=0, activation=torch.relu), torch.relu(driven))


def test_gradients_of_refinement() -> None:
    inputs = (drawn(3, 3).requires_grad_(), drawn(3, seed=1).requires_grad_())
    assert torch.autograd.gradcheck(lambda trace, driven: refine(trace, driven, rounds=2, layer_norm=True), inputs)


def test_bad_input() -> None:
    with pytest.raises(UserError, match=r"decay is 1\.5: write a number from 0"):
        FastWeightMemory(decay=1.5)
    with pytest.raises(UserError, match="rate is 0: write a number above 0"):
        FastWeightMemory(rate=0.0)
    with pytest.raises(UserError, match="rounds must be at least 0, got -1"):
        refine(drawn(2, 2), drawn(2), rounds=-1)
