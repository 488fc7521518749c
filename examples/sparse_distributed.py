"""Kanerva's memory cleans a noisy cue by reading on, and plays a sequence from a noisy beginning.

Run with: python examples/sparse_distributed.py
"""

from itertools import islice

import torch

from mnemon.associative.sparse_distributed import SparseDistributedMemory, radius_for, random_bits

BITS, LOCATIONS = 256, 2_000
generator = torch.Generator().manual_seed(0)
radius = radius_for(0.02, BITS)  # each address reaches 2 % of the locations
memory = SparseDistributedMemory(addresses=random_bits(LOCATIONS, BITS, generator=generator), radius=radius)
print(f"{LOCATIONS} locations of {BITS} bits, radius {radius}")


def with_noise(items: torch.Tensor, share: float) -> torch.Tensor:
    """Each bit flipped with that probability."""
    flips = torch.rand(items.shape, generator=generator) < share
    return torch.where(flips, 1 - items, items)


items = random_bits(20, BITS, generator=generator)
counters = memory.store(items, items)  # each item is its own address
cues = with_noise(items, 0.15)
print(f"\ncues with {float((cues != items).float().mean()):.1%} wrong bits, read again and again:")
for number, read in enumerate(islice(memory.read_on(cues, counters), 4), start=1):
    print(f"  read {number}: {float((read != items).float().mean()):.1%} wrong")

sequence = random_bits(12, BITS, generator=generator)
chained = memory.store_sequence(sequence)  # each item is the address of the next
heard = islice(memory.read_on(with_noise(sequence[:1], 0.1), chained), 11)
right = [bool((read[0] == item).all()) for read, item in zip(heard, sequence[1:], strict=True)]
print(f"\na sequence from its first item with 10 % noise: {sum(right)} of {len(right)} that follow are exact")
