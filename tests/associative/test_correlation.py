import pytest
import torch

from mnemon.associative.correlation import (
    CorrelationMemory,
    clipped_outer_products,
    least_squares,
    outer_products,
    recall,
    thresholded_recall,
    widrow_hoff,
)
from mnemon.errors import UserError

Q, K, V = 4, 6, 3


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_against_loops() -> None:
    keys, values, probes = drawn(2, Q, K), drawn(2, Q, V, seed=1), drawn(2, 3, K, seed=2)
    memory = outer_products(keys, values)
    expected = torch.zeros(2, V, K, dtype=torch.float64)
    for batch in range(2):
        for pair in range(Q):
            for v in range(V):
                for k in range(K):
                    expected[batch, v, k] += values[batch, pair, v] * keys[batch, pair, k]
    torch.testing.assert_close(memory, expected)
    for batch in range(2):
        for probe in range(3):
            torch.testing.assert_close(recall(memory, probes)[batch, probe], expected[batch] @ probes[batch, probe])


def test_orthonormal_keys_are_exact_and_longer_ones_scale_by_their_square() -> None:
    keys, _ = torch.linalg.qr(drawn(K, K))
    keys, values = keys[:Q], drawn(Q, V)
    torch.testing.assert_close(recall(outer_products(keys, values), keys), values)
    torch.testing.assert_close(recall(outer_products(3 * keys, values), 3 * keys), 9 * values)
    memory = CorrelationMemory()
    torch.testing.assert_close(memory.decode(3 * keys, memory.store(5 * keys, values)), values)


def test_widrow_hoff_against_a_loop() -> None:
    keys, values, memory = drawn(Q, K), drawn(Q, V, seed=1), drawn(V, K, seed=2)
    expected = memory.clone()
    for _ in range(2):
        for pair in range(Q):
            wrong = values[pair] - expected @ keys[pair]
            expected = expected + 0.1 * torch.outer(wrong, keys[pair])
    torch.testing.assert_close(widrow_hoff(memory, keys, values, rate=0.1, sweeps=2), expected)


def test_widrow_hoff_ends_at_least_squares_where_hebb_does_not() -> None:
    keys = torch.nn.functional.normalize(drawn(Q, K), dim=-1)
    values = drawn(Q, V, seed=1)
    memory = widrow_hoff(torch.zeros(V, K, dtype=torch.float64), keys, values, sweeps=300)
    torch.testing.assert_close(memory, least_squares(keys, values), atol=1e-6, rtol=0)
    torch.testing.assert_close(recall(memory, keys), values, atol=1e-6, rtol=0)
    assert (recall(outer_products(keys, values), keys) - values).abs().max() > 0.1


def test_the_pair_just_seen_is_exact() -> None:
    keys = torch.nn.functional.normalize(drawn(1, K), dim=-1)
    values = drawn(1, V, seed=1)
    torch.testing.assert_close(recall(widrow_hoff(drawn(V, K), keys, values), keys), values)


def test_widrow_hoff_has_gradients() -> None:
    inputs = (drawn(V, K).requires_grad_(), drawn(2, K).requires_grad_(), drawn(2, V).requires_grad_())
    assert torch.autograd.gradcheck(lambda m, k, v: widrow_hoff(m, k, v, rate=0.3, sweeps=2), inputs)


def sparse(rows: int, size: int, ones: int, seed: int) -> torch.Tensor:
    places = torch.rand(rows, size, generator=torch.Generator().manual_seed(seed)).topk(ones, dim=-1).indices
    return torch.zeros(rows, size).scatter_(-1, places, 1.0)


def test_binary_memory_loses_no_one_and_sparse_patterns_come_back() -> None:
    rates = []
    for ones in (4, 30):
        keys, values = sparse(60, 120, ones, 0), sparse(60, 120, ones, 1)
        recalled = thresholded_recall(clipped_outer_products(keys, values), keys)
        assert (recalled >= values).all()
        rates.append(float((recalled != values).float().mean()))
    assert rates[0] < 0.001 < 0.3 < rates[1], "the sparser the better"


def test_bad_input() -> None:
    with pytest.raises(UserError, match="rate is -1: write a number above 0"):
        widrow_hoff(drawn(V, K), drawn(Q, K), drawn(Q, V), rate=-1.0)
    with pytest.raises(UserError, match="sweeps must be at least 1, got 0"):
        widrow_hoff(drawn(V, K), drawn(Q, K), drawn(Q, V), sweeps=0)
    with pytest.raises(UserError, match="stores zeros and ones: write"):
        clipped_outer_products(drawn(Q, K), drawn(Q, V))
