"""A record of three facts in one vector, and how copies of the trace make room for more.

Run with: python examples/holographic.py
"""

import torch

from mnemon.associative.holographic import HolographicMemory, clean_up, random_phases
from mnemon.associative.redundant import RedundantMemory, noise_variance, random_permutations

SIZE = 128
generator = torch.Generator().manual_seed(0)

names = ["name", "town", "trade"]
words = ["Ada", "London", "mathematics", "Kurt", "Vienna", "logic"]
keys = random_phases(len(names), SIZE, generator=generator)
items = random_phases(len(words), SIZE, generator=generator)

memory = HolographicMemory()
trace = memory.store(keys, items[:3])  # Σ key ⊛ value: as long as one value
answers = clean_up(memory.decode(keys, trace), items)
print(f"{len(names)} facts in {SIZE} complex numbers:")
for name, answer in zip(names, answers.tolist(), strict=True):
    print(f"  {name}: {words[answer]}")

print("\n60 facts, by the number of permuted copies:")
many_keys = random_phases(60, SIZE, generator=generator)
many_items = random_phases(200, SIZE, generator=generator)
for copies in (1, 4, 16):
    redundant = RedundantMemory(permutations=random_permutations(copies, SIZE, generator=generator))
    recalled = redundant.decode(many_keys, redundant.store(many_keys, many_items[:60]))
    noise = float((recalled - many_items[:60]).abs().square().mean())
    right = float((clean_up(recalled, many_items) == torch.arange(60)).float().mean())
    formula = noise_variance(60, copies, SIZE)
    print(f"  {copies:2d}: noise {noise:5.2f}, by the formula {formula:5.2f}; {right:.0%} right after clean-up")
