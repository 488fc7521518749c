"""How long do noisy networks remember? Three of the same size, whose memory differs tenfold.

Run with: python examples/fisher_memory.py
"""

import torch

from mnemon.spectra import delay_line, orthogonal_matrix, random_matrix
from mnemon.theory import measured_memory_curve, memory_curve, total_memory

UNITS, AGES = 20, (0, 5, 10, 19)
generator = torch.Generator().manual_seed(0)
anywhere = torch.randn(UNITS, generator=generator, dtype=torch.float64)
anywhere /= anywhere.norm()
first = torch.eye(UNITS, dtype=torch.float64)[0]

networks = {  # W, and v through which the signal enters
    "rotation × 0.9": (orthogonal_matrix(UNITS, 0.9, generator), anywhere),
    "random, radius 0.9": (random_matrix(UNITS, 0.9, generator), anywhere),
    "delay line, α = 2": (delay_line(UNITS, 2.0), first),
}
print(f"J(k) at k = {AGES}, by formula and simulated; Σ J(k) of a normal network is 1, of any at most {UNITS}")
for name, (recurrent, feed) in networks.items():
    exact = memory_curve(recurrent, feed, UNITS)
    simulated = measured_memory_curve(recurrent, feed, UNITS, generator=generator, trajectories=2000)
    print(f"\n{name}: Σ J(k) = {total_memory(recurrent, feed):.3f}")
    print("  formula   ", "  ".join(f"{exact[age]:.4f}" for age in AGES))
    print("  simulated ", "  ".join(f"{simulated[age]:.4f}" for age in AGES))
