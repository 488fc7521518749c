"""Every batch has a seed of its own, so that batch k is the same whichever model ran and however it was resumed.

The noise inside a model (dropout, random writing) follows the same rule: torch's global generator starts afresh from
``(seed, stream, step)`` at each step. No generator state then needs saving, evaluation cannot disturb training, and a
step that went wrong can be repeated from its number alone.
"""

import hashlib
import random

import numpy as np
import torch


def batch_seed(seed: int, stream: str, step: int) -> int:
    """The seed of one batch: ``batch_seed(0, "train", 17)``.

    It has 32 bits because torch's generator on the CPU uses no more.
    """
    digest = hashlib.sha256(stream.encode()).digest()
    words = tuple(int.from_bytes(digest[start : start + 4], "little") for start in (0, 4))
    return int(np.random.SeedSequence(seed, spawn_key=(*words, step)).generate_state(1)[0])


def generator_from(seed: int) -> torch.Generator:
    """A generator on the CPU, which draws the same numbers on every machine."""
    return torch.Generator().manual_seed(seed)


def seed_noise(seed: int, stream: str, step: int) -> None:
    """Restart torch's global generators for one step; ``torch.manual_seed`` would take a hundred times as long."""
    start = batch_seed(seed, f"noise of {stream}", step)
    torch.default_generator.manual_seed(start)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(start)


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, numpy and torch: call it before building a model."""
    random.seed(seed)
    np.random.seed(batch_seed(seed, "numpy", 0))  # noqa: NPY002 - the global generator is the one meant
    torch.manual_seed(seed)
