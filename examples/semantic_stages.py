"""A network learns which properties eight living things have, and tells plants from animals before birds from fish.

Run with: python examples/semantic_stages.py
"""

import torch

from mnemon.theory import hierarchy, learn, learned_strengths, learning_time, modes_of, random_weights
from mnemon.theory.semantic import hidden_distances

TIME_CONSTANT = 100  # τ, in epochs
LEVELS = ("plant or animal", "which kind of it", "which species")
ITEMS = ("rose", "daisy", "pine", "oak", "robin", "sparrow", "salmon", "sunfish")

lesson = hierarchy(levels=3)
modes = modes_of(lesson)  # 0: what all share; 1; 2, 3; 4 … 7: the distinctions of each level
weights = random_weights(lesson, hidden=64, scale=0.01, generator=torch.Generator().manual_seed(0))
course = learn(lesson, weights, rate=1 / (len(ITEMS) * TIME_CONSTANT), epochs=1800, every=200)
formula = learned_strengths(course.epochs / TIME_CONSTANT, modes.strengths, course.starts)

print("share learned of each distinction, in training and by the closed form:")
print("epoch  " + "".join(f"{level:>22}" for level in LEVELS))
for row, epoch in enumerate(course.epochs.tolist()):
    shares = []
    for mode in (1, 2, 4):  # one of each level
        whole = modes.strengths[mode]
        shares.append(f"{course.strengths[row, mode] / whole:13.2f}  ({formula[row, mode] / whole:.2f})")
    print(f"{epoch:5.0f}  " + " ".join(shares))

for level, mode in zip(LEVELS, (1, 2, 4), strict=True):
    half = TIME_CONSTANT * learning_time(modes.strengths[mode].item(), course.starts[mode].item())
    print(f"{level}: s = {modes.strengths[mode]:.2f}, half learned after {half:.0f} epochs by the closed form")

print("\nhow far from a robin the hidden layer holds each, half way and at the end:")
for when in (4, -1):
    distances = hidden_distances(course.weights[when], lesson)[ITEMS.index("robin")]
    print("  " + "  ".join(f"{item} {distance:.1f}" for item, distance in zip(ITEMS, distances, strict=True)))
