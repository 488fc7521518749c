"""Fast weights remember the recent past: the older a pair, the fainter; and they pull a state towards what was seen.

Run with: python examples/fast_weights.py
"""

import torch
from torch.nn import functional

from mnemon.associative.fast_weights import FastWeightMemory, refine

generator = torch.Generator().manual_seed(0)
states = functional.normalize(torch.randn(10, 64, generator=generator), dim=-1)
memory = FastWeightMemory(decay=0.8, rate=1.0)
trace = memory.store(states, states)  # A = Σ η λ^age h hᵀ
strength = (memory.decode(states, trace) * states).sum(dim=-1)
print("how strongly each state comes back, the oldest first, beside λ^age:")
for age, found in zip(range(9, -1, -1), strength.tolist(), strict=True):
    print(f"  age {age}: {found:.2f}  {0.8**age:.2f}  {'#' * round(40 * found)}")

attended = memory.attend(states, states, states)
print("the same as attention to past states:", torch.allclose(attended, memory.decode(states, trace), atol=1e-6))

driven = 0.3 * states[-1] + 0.1 * torch.randn(64, generator=generator)  # a faint, noisy hint at the newest
for rounds in (0, 1, 3):
    state = refine(trace, driven, rounds=rounds)
    alike = float(functional.cosine_similarity(state, states[-1], dim=0))
    print(f"likeness to the newest state after {rounds} rounds: {alike:.2f}")
