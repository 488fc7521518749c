"""What a matrix memory does when a key gets a new value: linear attention adds it up, the delta rule replaces it.

Twelve keys of sixty-four numbers get a value each, then half of them another. Then every key is looked up, and counts
as right where the nearest of all values is its last one.

Run with: python examples/delta_rule.py
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from mnemon import DeltaMemory
from mnemon.memory.delta import DeltaInterface

KEYS, KEY_SIZE, VALUE_SIZE = 12, 64, 8


def look_up_all(memory: DeltaMemory, keys: Tensor, pairs: list[tuple[int, Tensor]]) -> Tensor:
    """Write the pairs one after the other with full strength, then read at every key."""
    one = torch.ones(1)
    state = memory.init_state(1)
    for number, value in pairs:
        key = keys[number].unsqueeze(0)
        state = memory(DeltaInterface(keys.unsqueeze(0), key, value.unsqueeze(0), one, one), state)
    return state.reads[0]  # type: ignore[no-any-return]


def compare(seed: int) -> dict[str, tuple[float, float]]:
    """For each rule the share of right look-ups, of keys written once and of keys written twice."""
    torch.manual_seed(seed)
    keys = F.normalize(torch.randn(KEYS, KEY_SIZE), dim=1)
    first, second = torch.randn(2, KEYS, VALUE_SIZE)
    twice = range(KEYS // 2)
    pairs = [*enumerate(first), *((number, second[number]) for number in twice)]
    last = torch.cat([second[: KEYS // 2], first[KEYS // 2 :]])
    candidates = torch.cat([last, first[: KEYS // 2]])
    found = {}
    for name, delta in {"linear attention": False, "delta rule": True}.items():
        read = look_up_all(DeltaMemory(KEY_SIZE, VALUE_SIZE, KEYS, delta=delta), keys, pairs)
        right = torch.cdist(read, candidates).argmin(1) == torch.arange(KEYS)
        found[name] = (right[KEYS // 2 :].float().mean().item(), right[: KEYS // 2].float().mean().item())
    return found


if __name__ == "__main__":
    for seed in range(3):
        for name, (once, twice) in compare(seed).items():
            print(f"seed {seed}, {name}: right {once:.0%} of keys written once, {twice:.0%} of keys written twice")
