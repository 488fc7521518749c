"""From Hopfield to attention: the same patterns in both networks, and one update beside torch's attention.

Run with: python examples/modern_hopfield.py
"""

import torch
from torch.nn import functional

from mnemon.associative.hopfield import hebbian_weights, settle
from mnemon.associative.modern_hopfield import attend, update

UNITS = 64
generator = torch.Generator().manual_seed(0)

print(f"wrong units of recall from patterns with 10 % noise, {UNITS} units:")
print("  patterns  classical  modern")
for count in (4, 16, 64, 256, 1_024, 4_096):
    patterns = torch.randint(0, 2, (count, UNITS), generator=generator).float() * 2 - 1
    probes = patterns[:16]
    noisy = torch.where(torch.rand(probes.shape, generator=generator) < 0.1, -probes, probes)
    classical = settle(hebbian_weights(patterns), noisy).states
    modern = update(patterns, noisy, sharpness=1.0).sign()  # one step
    wrong = [float((found != probes).float().mean()) for found in (classical, modern)]
    print(f"  {count:8d}  {wrong[0]:9.1%}  {wrong[1]:6.1%}")

queries, keys, values = (torch.randn(5, UNITS, generator=generator) for _ in range(3))
ours = attend(queries, keys, values, sharpness=UNITS**-0.5)
theirs = functional.scaled_dot_product_attention(queries, keys, values)
print(f"one update and softmax attention differ by {float((ours - theirs).abs().max()):.1e}")
