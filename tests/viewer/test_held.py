"""Whose input a slot holds: by hand, and against a loop."""

import torch

from mnemon.viewer.held import NONE, changes, find_held


def by_loop(memory: torch.Tensor, first: torch.Tensor) -> tuple[list[list[int]], list[list[float]]]:
    """The definition, slot by slot and step by step."""
    steps, slots, _ = memory.shape
    largest = max(float(memory[step, slot].norm()) for step in range(steps) for slot in range(slots))
    sources, shares = [], []
    held = [[0.0] * steps for _ in range(slots)]
    for step in range(steps):
        for slot in range(slots):
            if step == 0:
                change = min(1.0, float(first[slot]))
            else:
                now, before = memory[step, slot], memory[step - 1, slot]
                change = float((now - before).norm() / (now.norm() + before.norm() + 0.02 * largest))
            held[slot] = [share * (1 - change) for share in held[slot]]
            held[slot][step] = change
        best = [max(range(steps), key=own.__getitem__) for own in held]
        shares.append([own[source] for own, source in zip(held, best, strict=True)])
        sources.append([source if own[source] >= 0.5 else NONE for own, source in zip(held, best, strict=True)])
    return sources, shares


def test_equals_the_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    memory = torch.randn(9, 4, 3, generator=generator, dtype=torch.float64).cumsum(0)
    memory[3:6, 2] = memory[3, 2]  # a slot that is left alone
    first = torch.tensor([0.1, 0.9, 0.0, 1.7], dtype=torch.float64)
    held = find_held(changes(memory, first))
    sources, shares = by_loop(memory, first)
    assert held.sources.tolist() == sources
    torch.testing.assert_close(held.shares, torch.tensor(shares, dtype=torch.float64))
    assert ((held.shares >= 0) & (held.shares <= 1)).all()


def test_written_kept_and_overwritten() -> None:
    empty, first, second = torch.zeros(2), torch.tensor([1.0, 0.0]), torch.tensor([-1.0, 0.0])
    memory = torch.stack(
        [
            torch.stack([empty, empty]),
            torch.stack([first, empty]),
            torch.stack([first, first]),
            torch.stack([second, first]),
        ]
    )
    held = find_held(changes(memory, torch.zeros(2)))
    assert held.sources.tolist() == [[NONE, NONE], [1, NONE], [1, 2], [3, 2]]


def test_an_empty_memory_and_one_step_hold_nothing() -> None:
    held = find_held(changes(torch.zeros(3, 2, 4), torch.zeros(2)))
    assert (held.sources == NONE).all()
    assert (held.shares == 0).all()
    one = find_held(changes(torch.full((1, 1, 1), 1e4), torch.ones(1)))
    assert one.sources.tolist() == [[0]]


def test_what_fades_is_no_longer_held() -> None:
    """Many small changes leave nothing of the first write, and no step has half of the slot."""
    angles = torch.arange(12) * 0.6
    memory = torch.stack([angles.cos(), angles.sin()], dim=1).unsqueeze(1)
    sources = find_held(changes(memory, torch.ones(1))).sources.flatten().tolist()
    assert sources[:2] == [0, 0]
    assert sources[-1] == NONE
