"""A Hopfield network repairs three letters, and is caught in a state that nobody stored.

Run with: python examples/hopfield.py
"""

import torch

from mnemon.associative.hopfield import energy, hebbian_weights, is_spurious, settle

LETTERS = {
    "T": "####### ...#... ...#... ...#... ...#... ...#... ...#...",
    "L": "#...... #...... #...... #...... #...... #...... #######",
    "X": "#.....# .#...#. ..#.#.. ...#... ..#.#.. .#...#. #.....#",
}


def to_signs(drawing: str) -> torch.Tensor:
    """A unit for each mark."""
    return torch.tensor([1.0 if mark == "#" else -1.0 for mark in drawing.replace(" ", "")])


def rows(state: torch.Tensor) -> list[str]:
    """The units as a drawing."""
    marks = ["#" if unit > 0 else "." for unit in state.tolist()]
    return ["".join(marks[start : start + 7]) for start in range(0, 49, 7)]


patterns = torch.stack([to_signs(drawing) for drawing in LETTERS.values()])
weights = hebbian_weights(patterns)  # ⊗ and ⊕: one 49 × 49 matrix for all letters

generator = torch.Generator().manual_seed(0)
flips = torch.rand(patterns.shape, generator=generator) < 0.15
noisy = torch.where(flips, -patterns, patterns)
settled = settle(weights, noisy)  # •: one unit after the other, until none changes

print("stored, with every seventh unit wrong, settled:")
for letter in range(len(LETTERS)):
    for before, cue, after in zip(
        rows(patterns[letter]), rows(noisy[letter]), rows(settled.states[letter]), strict=True
    ):
        print(f"  {before}   {cue}   {after}")
    print()
energies = [f"{value:.0f}" for value in torch.cat([energy(weights, noisy), energy(weights, settled.states)]).tolist()]
print("energies before:", *energies[:3], "and after:", *energies[3:])
print("wrong units after settling:", int((settled.states != patterns).sum()))

mixture = settle(weights, patterns.sum(dim=0, keepdim=True).sign())
print("the sign of their sum settles in", "a spurious state:" if is_spurious(mixture.states, patterns) else "a letter:")
print("\n".join(f"  {row}" for row in rows(mixture.states[0])))
