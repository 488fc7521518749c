from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemon.errors import UserError
from mnemon.tasks import Batch, FiniteTask, Pixels, Splits, mnist
from tests.data.tiny_data import idx_bytes, write, write_mnist


def parts(folder: Path, *, permuted: bool = False, seed: int = 0, side: int = 2) -> list[Pixels]:
    write_mnist(folder, train=25, test=3, side=side)
    splits = mnist(folder, permuted=permuted, permutation_seed=seed, validation=4)
    assert all(isinstance(part, FiniteTask) for part in splits[:3])
    return [part for part in splits[:3] if isinstance(part, Pixels)]


def numbers(batch: Batch) -> list[int]:
    """The grey values of an image begin with its number."""
    return [round(255 * grey) for grey in batch.inputs.squeeze(-1).amin(0).tolist()]


def test_the_last_training_images_are_for_validation(tmp_path: Path) -> None:
    train, validation, test = parts(tmp_path)
    seen = [[number for batch in part.examples(4) for number in numbers(batch)] for part in (train, validation, test)]
    assert seen == [list(range(21)), [21, 22, 23, 24], [0, 1, 2]]


@pytest.mark.parametrize("permuted", [False, True])
@settings(deadline=None)
@given(rows=st.lists(st.integers(0, 20), min_size=1, max_size=5), side=st.integers(2, 4), seed=st.integers(0, 99))
def test_batches_against_a_loop(
    tmp_path_factory: pytest.TempPathFactory, permuted: bool, rows: list[int], side: int, seed: int
) -> None:
    task = parts(tmp_path_factory.mktemp("mnist"), permuted=permuted, seed=seed, side=side)[0]
    pixels = side * side
    order = torch.randperm(pixels, generator=torch.Generator().manual_seed(seed)).tolist()
    batch = task.batch_of(torch.tensor(rows))
    inputs, targets = torch.zeros(pixels, len(rows), 1), torch.zeros(pixels, len(rows), 10)
    mask = torch.zeros(pixels, len(rows))
    for b, number in enumerate(rows):
        for t in range(pixels):
            inputs[t, b, 0] = (number + (order[t] if permuted else t)) / 255
        targets[pixels - 1, b, number % 10] = 1
        mask[pixels - 1, b] = 1
    torch.testing.assert_close(batch.inputs, inputs)
    assert torch.equal(batch.targets, targets)
    assert torch.equal(batch.mask, mask)
    assert batch.lengths is None


def test_all_parts_share_one_permutation(tmp_path: Path) -> None:
    train, validation, test = parts(tmp_path, permuted=True, side=4)
    assert torch.equal(train.order, validation.order)
    assert torch.equal(train.order, test.order)
    assert not torch.equal(train.order, parts(tmp_path, permuted=True, seed=1, side=4)[0].order)


def test_784_steps(tmp_path: Path) -> None:
    task = parts(tmp_path, side=28)[0]
    assert task.sample(2, torch.Generator().manual_seed(0)).inputs.shape == (784, 2, 1)
    assert (task.input_size, task.output_size) == (1, 10)


def test_a_sample_depends_on_its_generator_only(tmp_path: Path) -> None:
    task = parts(tmp_path)[0]
    generator = torch.Generator().manual_seed(3)
    first, second = task.sample(30, generator), task.sample(30, generator)
    torch.rand(3)
    again = task.sample(30, torch.Generator().manual_seed(3))
    assert torch.equal(first.inputs, again.inputs)
    assert not torch.equal(first.inputs, second.inputs)
    assert set(numbers(task.sample(500, generator))) == set(range(21))


def test_scores(tmp_path: Path) -> None:
    task = parts(tmp_path)[0]
    batch = task.batch_of(torch.arange(5))
    output = 20 * (2 * batch.targets - 1)
    assert task.metrics(output, batch) == {"accuracy": 1.0}
    assert float(task.loss(output, batch)) < 1e-6
    output[-1, 0] *= -1
    assert task.metrics(output, batch) == {"accuracy": pytest.approx(0.8)}


def test_rendering(tmp_path: Path) -> None:
    write(tmp_path / "train-images-idx3-ubyte", idx_bytes((2, 2, 2), [0, 255, 128, 0, 0, 0, 0, 0]))
    write(tmp_path / "train-labels-idx1-ubyte", idx_bytes((2,), [7, 1]))
    for kind in ("images-idx3", "labels-idx1"):
        (tmp_path / f"t10k-{kind}-ubyte").write_bytes((tmp_path / f"train-{kind}-ubyte").read_bytes())
    task = mnist(tmp_path, validation=1).test
    assert isinstance(task, Pixels)
    batch = next(task.examples(2))
    assert task.render(batch, 0) == " █\n▒\ntarget  7"
    assert task.render(batch, 0, batch.targets).splitlines()[-1] == "answer  7"
    assert task.render(batch, 0, -batch.targets).splitlines()[-1] == "answer  0 ×"
    with pytest.raises(UserError, match="row=2 is outside a batch of 2"):
        task.render(batch, 2)


def test_a_folder_mnist_is_found_in_the_root(tmp_path: Path) -> None:
    write_mnist(tmp_path / "mnist")
    assert isinstance(mnist(tmp_path, validation=1), Splits)


@pytest.mark.parametrize("validation", [0, 5])
def test_too_few_images_for_validation(tmp_path: Path, validation: int) -> None:
    write_mnist(tmp_path, train=5)
    with pytest.raises(UserError, match=rf"^mnist\(validation={validation}\): write a number from 1 to 4$"):
        mnist(tmp_path, validation=validation)


def test_images_of_two_sizes(tmp_path: Path) -> None:
    write_mnist(tmp_path)
    write(tmp_path / "t10k-images-idx3-ubyte", idx_bytes((3, 1, 2), range(6)))
    with pytest.raises(UserError, match=f"^{tmp_path} has training and test images of different sizes"):
        mnist(tmp_path, validation=1)
