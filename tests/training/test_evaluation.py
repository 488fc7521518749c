from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from mnemon.tasks.base import Batch
from mnemon.training import evaluation
from mnemon.training.evaluation import evaluate
from mnemon.training.seeding import batch_seed, generator_from
from tests.training.tiny_training import Delay, tiny_model


class Watched(nn.Module):
    """Reports how it is called."""

    def __init__(self, seen: Callable[[Tensor, Tensor | None], None]) -> None:
        super().__init__()
        self.model = tiny_model()
        self.seen = seen

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        self.seen(inputs, lengths)
        output: tuple[Tensor, Tensor] = self.model(inputs, lengths=lengths)
        return output


@pytest.mark.parametrize("sequences", [1, 63, 64, 65, 150])
def test_means_are_over_the_sequences_one_by_one(sequences: int) -> None:
    task = Delay(length=6, ragged=True)
    model = tiny_model()
    found = evaluate(model, task, name="long", sequences=sequences, seed=3)
    losses, errors = [], []
    model.eval()
    for number, start in enumerate(range(0, sequences, 64)):
        rows = min(64, sequences - start)
        batch = task.sample(rows, generator_from(batch_seed(3, "eval long", number)))
        for row in range(rows):
            assert batch.lengths is not None
            alone = slice(row, row + 1)
            one = Batch(batch.inputs[:, alone], batch.targets[:, alone], batch.mask[:, alone], batch.lengths[alone])
            output, _ = model(one.inputs, lengths=one.lengths)
            losses.append(task.loss(output, one).item())
            errors.append(task.metrics(output, one)["bit_errors"])
    assert len(losses) == sequences
    assert found.loss == pytest.approx(sum(losses) / sequences, rel=1e-5)
    assert found.metrics["bit_errors"] == pytest.approx(sum(errors) / sequences, rel=1e-5)


def test_batches_are_bounded_in_evaluation_mode_and_without_gradients() -> None:
    sizes: list[int] = []

    def seen(inputs: Tensor, lengths: Tensor | None) -> None:
        assert lengths is not None
        assert not torch.is_grad_enabled()
        assert not model.training
        assert not model.model.dropout.training
        sizes.append(inputs.shape[1])

    model = Watched(seen)
    model.model.gru.eval()  # a frozen part
    evaluate(model, Delay(ragged=True), name="x", sequences=1000, seed=0)
    assert sum(sizes) == 1000
    assert max(sizes) <= evaluation.LARGEST_BATCH
    assert model.training
    assert model.model.dropout.training
    assert not model.model.gru.training
    assert torch.is_grad_enabled()


def test_same_set_every_time_and_another_for_another_name_or_seed() -> None:
    model = tiny_model()
    first = evaluate(model, Delay(), name="a", sequences=20, seed=0)
    torch.rand(5)
    assert evaluate(model, Delay(), name="a", sequences=20, seed=0) == first
    assert evaluate(model, Delay(), name="b", sequences=20, seed=0) != first
    assert evaluate(model, Delay(), name="a", sequences=20, seed=1) != first


class Noisy(nn.Module):
    """Draws from torch's global generator in evaluation too, as random writing does."""

    def forward(self, inputs: Tensor, *, lengths: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        return inputs + torch.randn(inputs.shape), lengths


def test_noise_of_a_model_is_the_same_every_time() -> None:
    first = evaluate(Noisy(), Delay(), name="a", sequences=70, seed=0)
    torch.rand(5)
    assert evaluate(Noisy(), Delay(), name="a", sequences=70, seed=0) == first


@dataclass(frozen=True)
class FiniteDelay(Delay):
    """A set of so many sequences."""

    size: int = 1

    def examples(self, batch_size: int) -> Iterator[Batch]:
        whole = self.sample(self.size, generator_from(0))
        for start in range(0, self.size, batch_size):
            inputs, targets, mask = (part[:, start : start + batch_size] for part in whole[:3])
            lengths = None if whole.lengths is None else whole.lengths[start : start + batch_size]
            yield Batch(inputs, targets, mask, lengths)


@pytest.mark.parametrize("size", [1, 64, 130])
def test_a_finite_set_is_gone_through_once(size: int) -> None:
    task = FiniteDelay(length=5, ragged=True, size=size)
    seen: list[Tensor] = []
    model = Watched(lambda inputs, _: seen.append(inputs))
    found = evaluate(model, task, name="x", sequences=3, seed=7)
    whole = task.sample(size, generator_from(0))
    assert torch.equal(torch.cat(seen, dim=1), whole.inputs)
    assert max(inputs.shape[1] for inputs in seen) <= evaluation.LARGEST_BATCH
    model.eval()
    output, _ = model.model(whole.inputs, lengths=whole.lengths)
    assert found.loss == pytest.approx(task.loss(output, whole).item(), rel=1e-5)
    assert found.metrics == pytest.approx(task.metrics(output, whole), rel=1e-5)
