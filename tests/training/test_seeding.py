import random

import numpy as np
import torch

from mnemon.training.seeding import batch_seed, generator_from, seed_everything, seed_noise
from tests.training.tiny_training import Delay


def test_seeds_are_these_for_ever() -> None:
    """Records of earlier versions can be repeated only as long as these numbers stay."""
    seeds = [batch_seed(0, "train", 1), batch_seed(0, "train", 2), batch_seed(1, "eval longer", 1)]
    assert seeds == [3296774174, 1350394169, 46438811]


def test_seed_differs_with_each_of_its_parts() -> None:
    seeds = {
        batch_seed(seed, stream, step)
        for seed in (0, 1, 2**32, 2**63 - 1)
        for stream in ("train", "eval", "eval longer")
        for step in range(50)
    }
    assert len(seeds) == 4 * 3 * 50


def test_a_batch_depends_on_its_seed_alone() -> None:
    first = Delay().sample(3, generator_from(batch_seed(0, "train", 5)))
    torch.manual_seed(99)
    torch.rand(7)
    again = Delay().sample(3, generator_from(batch_seed(0, "train", 5)))
    other = Delay().sample(3, generator_from(batch_seed(0, "train", 6)))
    assert torch.equal(first.inputs, again.inputs)
    assert not torch.equal(first.inputs, other.inputs)


def test_noise_is_the_same_for_the_same_step_and_differs_from_the_batch() -> None:
    seed_noise(0, "train", 1)
    first = torch.rand(4)
    torch.rand(3)
    seed_noise(0, "train", 1)
    assert torch.equal(torch.rand(4), first)
    seed_noise(0, "train", 2)
    assert not torch.equal(torch.rand(4), first)
    assert not torch.equal(torch.rand(4, generator=generator_from(batch_seed(0, "train", 1))), first)


def test_seed_everything_reaches_all_three_generators() -> None:
    def numbers() -> tuple[float, float, float]:
        return random.random(), float(np.random.random()), float(torch.rand(()))  # noqa: NPY002

    seed_everything(2**40)
    first = numbers()
    seed_everything(2**40)
    assert numbers() == first
    assert all(one != two for one, two in zip(numbers(), first, strict=True))
