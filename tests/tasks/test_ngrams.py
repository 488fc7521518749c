from math import log, log2

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mnemon.tasks import Batch, DynamicNGrams, bayes_predictions
from mnemon.tasks.ngrams import contexts, sequence_bits


def bits_of(batch: Batch) -> Tensor:
    return torch.cat([batch.inputs[:1], batch.targets]).squeeze(-1)


def estimates(bits: list[float], order: int, imagined: float) -> list[float]:
    """The slow way, for one row: count what followed each context, with imagined counts of 0 and of 1 added."""
    counts: dict[tuple[float, ...], list[int]] = {}
    predictions = []
    for index in range(1, len(bits)):
        if index < order - 1:
            predictions.append(0.5)
            continue
        seen = counts.setdefault(tuple(bits[index - order + 1 : index]), [0, 0])
        predictions.append((seen[1] + imagined) / (seen[0] + seen[1] + 2 * imagined))
        seen[int(bits[index])] += 1
    return predictions


def test_channels() -> None:
    assert (DynamicNGrams().input_size, DynamicNGrams().output_size) == (1, 1)


@given(st.integers(2, 7), st.integers(0, 20), st.integers(1, 4), st.integers(0, 1000))
def test_the_target_is_the_next_input(order: int, more: int, rows: int, seed: int) -> None:
    length = order + more
    batch = DynamicNGrams(order=order, length=length).sample(rows, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == batch.targets.shape == (length - 1, rows, 1)
    assert set(batch.inputs.flatten().tolist()) <= {0.0, 1.0}
    for t in range(length - 2):
        assert torch.equal(batch.targets[t], batch.inputs[t + 1])
    for t in range(length - 1):  # target t is bit t + 1, which has t + 1 bits before it
        assert batch.mask[t].tolist() == [float(t + 1 >= order - 1)] * rows


@given(st.integers(2, 6), st.integers(0, 30), st.integers(0, 1000))
def test_the_predictor_against_a_loop(order: int, more: int, seed: int) -> None:
    batch = DynamicNGrams(order=order, length=order + more).sample(3, torch.Generator().manual_seed(seed))
    bits = bits_of(batch)
    expected = torch.tensor([estimates(row, order, 0.5) for row in bits.T.tolist()]).T
    assert torch.allclose(bayes_predictions(bits, order), expected)


def test_the_predictor_by_hand() -> None:
    # order 2: after a 0 come 0, 1, 1; after a 1 comes 0
    bits = torch.tensor([[0.0], [0.0], [1.0], [0.0], [1.0]])
    assert bayes_predictions(bits, 2).squeeze(-1).tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 2, 1 / 2])


def test_the_predictor_looks_at_the_past_only() -> None:
    bits = bits_of(DynamicNGrams(order=3, length=30).sample(4, torch.Generator().manual_seed(0)))
    changed = bits.clone()
    changed[20:] = 1 - changed[20:]
    before, after = bayes_predictions(bits, 3), bayes_predictions(changed, 3)
    assert torch.equal(before[:20], after[:20])  # prediction 19 is that of bit 20
    assert not torch.equal(before[20:], after[20:])


def test_contexts_are_numbers_with_the_oldest_bit_foremost() -> None:
    bits = torch.tensor([[1.0], [0.0], [0.0], [1.0]])
    assert contexts(bits, 4).tolist() == [[4], [1]]


def test_probabilities_follow_the_arcsine_law() -> None:
    """Beta(½, ½) has mean ½, variance 1/8, and a third of its mass below ¼."""
    batch = DynamicNGrams(order=3, length=1200).sample(300, torch.Generator().manual_seed(0))
    bits = bits_of(batch)
    shares = []
    for row in bits.T.tolist():
        for context in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
            following = [row[i] for i in range(2, len(row)) if (row[i - 2], row[i - 1]) == context]
            if len(following) >= 30:
                shares.append(sum(following) / len(following))
    found = torch.tensor(shares)
    assert len(shares) > 800
    assert float(found.mean()) == pytest.approx(0.5, abs=0.03)
    assert float(found.var()) == pytest.approx(1 / 8, abs=0.02)
    assert float((found < 0.25).float().mean()) == pytest.approx(1 / 3, abs=0.05)


def test_the_first_context_is_fair_coins() -> None:
    bits = bits_of(DynamicNGrams().sample(4000, torch.Generator().manual_seed(0)))[:5]
    assert bits.mean(1).tolist() == pytest.approx([0.5] * 5, abs=0.03)
    assert float((bits[0] == bits[4]).float().mean()) == pytest.approx(0.5, abs=0.03)


def test_each_row_has_its_own_table() -> None:
    bits = bits_of(DynamicNGrams(order=2, length=400).sample(50, torch.Generator().manual_seed(0)))
    assert float(bits.mean(0).std()) > 0.15  # one shared table would give about 0.03


def test_cross_entropy_against_a_loop() -> None:
    task = DynamicNGrams(order=3, length=12)
    batch = task.sample(5, torch.Generator().manual_seed(0))
    output = torch.randn(11, 5, 1, generator=torch.Generator().manual_seed(1))
    paid, floor = 0.0, 0.0
    for b in range(5):
        best = estimates(bits_of(batch)[:, b].tolist(), 3, 0.5)
        for t in range(1, 11):
            wanted = float(batch.targets[t, b, 0])
            guess = float(output[t, b, 0].sigmoid())
            paid -= log2(guess if wanted else 1 - guess)
            floor -= log2(best[t] if wanted else 1 - best[t])
    metrics = task.metrics(output, batch)
    assert metrics["cross_entropy_bits"] == pytest.approx(paid / 5, rel=1e-5)
    assert metrics["floor_bits"] == pytest.approx(floor / 5, rel=1e-5)
    assert metrics["excess_bits"] == pytest.approx((paid - floor) / 5, rel=1e-4)
    assert metrics["cross_entropy_bits"] == pytest.approx(float(task.loss(output, batch)) * 10 / log(2))


def test_a_coin_pays_one_bit_for_each_prediction() -> None:
    task = DynamicNGrams(length=200)
    batch = task.sample(3, torch.Generator().manual_seed(0))
    assert task.metrics(torch.zeros_like(batch.targets), batch)["cross_entropy_bits"] == pytest.approx(195)


def test_nothing_beats_the_floor_on_average() -> None:
    task = DynamicNGrams(length=100)
    batch = task.sample(1500, torch.Generator().manual_seed(0))
    constants = [task.metrics(torch.full_like(batch.targets, logit), batch) for logit in (-1.0, -0.2, 0.0, 0.2, 1.0)]
    assert all(metrics["excess_bits"] > 10 for metrics in constants)
    rows = bits_of(batch).T.tolist()
    for imagined in (0.2, 1.0, 2.0):
        rival = torch.tensor([estimates(row, 6, imagined) for row in rows]).T
        assert task.metrics(rival.logit().unsqueeze(-1), batch)["excess_bits"] > 0.3


def test_the_predictor_itself_has_no_excess() -> None:
    task = DynamicNGrams(length=60)
    batch = task.sample(20, torch.Generator().manual_seed(0))
    best = bayes_predictions(bits_of(batch), 6).logit().unsqueeze(-1)
    assert task.metrics(best, batch)["excess_bits"] == 0
    assert 0 < sequence_bits(best, batch) < 55


def test_the_floor_of_the_thesis_setting() -> None:
    task = DynamicNGrams(length=200)
    batch = task.sample(2000, torch.Generator().manual_seed(0))
    floor = task.metrics(torch.zeros_like(batch.targets), batch)["floor_bits"]
    assert floor == pytest.approx(128, abs=2.5)
