from math import exp, log

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mnemon.tasks import Batch
from mnemon.tasks.scoring import (
    bit_loss,
    bit_losses,
    bit_metrics,
    class_loss,
    class_metrics,
    number_loss,
    wrong_bits,
    wrong_classes,
)


def random_batch(steps: int, rows: int, channels: int, seed: int) -> tuple[torch.Tensor, Batch]:
    generator = torch.Generator().manual_seed(seed)
    targets = torch.randint(2, (steps, rows, channels), generator=generator).float()
    mask = torch.randint(2, (steps, rows), generator=generator).float()
    mask[-1] = 1
    output = 3 * torch.randn(steps, rows, channels, generator=generator)
    return output, Batch(inputs=targets, targets=targets, mask=mask)


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 1000))
def test_against_a_loop(steps: int, rows: int, channels: int, seed: int) -> None:
    output, batch = random_batch(steps, rows, channels, seed)
    total, errors, asked = 0.0, 0, 0
    for t in range(steps):
        for b in range(rows):
            for c in range(channels):
                if batch.mask[t, b] == 1:
                    probability = 1 / (1 + exp(-float(output[t, b, c])))
                    wanted = float(batch.targets[t, b, c])
                    total -= log(probability if wanted else 1 - probability)
                    errors += int((probability > 0.5) != bool(wanted))
                    asked += 1
    assert float(bit_loss(output, batch)) == pytest.approx(total / asked, rel=1e-4)
    assert float(bit_losses(output, batch).sum()) == pytest.approx(total, rel=1e-4)
    assert bit_metrics(output, batch)["bit_errors"] == pytest.approx(errors / rows)
    assert bit_metrics(output, batch)["bit_accuracy"] == pytest.approx(1 - errors / asked)


def test_the_gradient_in_double_precision() -> None:
    output, batch = random_batch(3, 2, 2, seed=0)
    logits = output.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: bit_loss(x, batch), (logits,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_scored_in_single(dtype: torch.dtype) -> None:
    output, batch = random_batch(50, 4, 8, seed=0)
    rounded = output.to(dtype)
    loss = bit_loss(rounded, batch)
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(float(bit_loss(rounded.float(), batch)), rel=1e-7)
    assert float(bit_loss(torch.full_like(rounded, 1e4), batch)) < 1e4


@pytest.mark.parametrize("wanted", [0.0, 1.0])
def test_a_logit_that_is_not_a_number_is_wrong(wanted: float) -> None:
    targets = torch.full((1, 1, 1), wanted)
    batch = Batch(inputs=targets, targets=targets, mask=torch.ones(1, 1))
    assert bool(wrong_bits(torch.full((1, 1, 1), float("nan")), batch))


def test_a_logit_of_zero_answers_zero() -> None:
    targets = torch.tensor([[[0.0, 1.0]]])
    batch = Batch(inputs=targets, targets=targets, mask=torch.ones(1, 1))
    assert wrong_bits(torch.zeros(1, 1, 2), batch).tolist() == [[[False, True]]]


def random_classes(steps: int, rows: int, classes: int, seed: int) -> tuple[torch.Tensor, Batch]:
    output, batch = random_batch(steps, rows, classes, seed)
    chosen = torch.randint(classes, (steps, rows), generator=torch.Generator().manual_seed(seed))
    return output, batch._replace(targets=torch.nn.functional.one_hot(chosen, classes).float())


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.integers(0, 1000))
def test_classes_against_a_loop(steps: int, rows: int, classes: int, seed: int) -> None:
    output, batch = random_classes(steps, rows, classes, seed)
    total, right, asked = 0.0, 0, 0
    for t in range(steps):
        for b in range(rows):
            if batch.mask[t, b] == 1:
                logits = output[t, b].tolist()
                wanted = batch.targets[t, b].tolist().index(1.0)
                total -= log(exp(logits[wanted]) / sum(exp(logit) for logit in logits))
                right += logits[wanted] == max(logits)
                asked += 1
    assert float(class_loss(output, batch)) == pytest.approx(total / asked, rel=1e-4, abs=1e-6)
    assert class_metrics(output, batch)["accuracy"] == pytest.approx(right / asked)
    assert int(wrong_classes(output, batch).sum()) == asked - right


def test_the_gradient_of_classes_and_numbers_in_double_precision() -> None:
    output, batch = random_classes(3, 2, 4, seed=0)
    values = output.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: class_loss(x, batch), (values,))
    doubled = batch._replace(targets=batch.targets.double())
    assert torch.autograd.gradcheck(lambda x: number_loss(x, doubled), (values,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_classes_and_numbers_in_half_precision_are_scored_in_single(dtype: torch.dtype) -> None:
    output, batch = random_classes(20, 4, 8, seed=0)
    rounded = output.to(dtype)
    for loss in (class_loss, number_loss):
        assert loss(rounded, batch).dtype == torch.float32
        assert torch.equal(loss(rounded, batch), loss(rounded.float(), batch))


@pytest.mark.parametrize("spoilt", [0, 1])
def test_logits_with_one_that_is_not_a_number_are_wrong(spoilt: int) -> None:
    targets = torch.tensor([[[1.0, 0.0]]])
    batch = Batch(inputs=targets, targets=targets, mask=torch.ones(1, 1))
    output = targets.clone()
    output[0, 0, spoilt] = float("nan")
    assert bool(wrong_classes(output, batch))
