from itertools import islice, product

import pytest
import torch

from mnemon.associative.sparse_distributed import (
    SparseDistributedMemory,
    bit_error,
    hamming,
    radius_for,
    random_bits,
    shared_access,
    signs,
)
from mnemon.errors import UserError


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def bits(*shape: int, seed: int = 0) -> torch.Tensor:
    return random_bits(*shape, generator=generator(seed))


def flipped(cues: torch.Tensor, count: int) -> torch.Tensor:
    return torch.cat([1 - cues[..., :count], cues[..., count:]], dim=-1)


def test_against_loops() -> None:
    addresses, keys, values, cues = bits(9, 7), bits(4, 7, seed=1), bits(4, 3, seed=2), bits(5, 7, seed=3)
    memory = SparseDistributedMemory(addresses=addresses, radius=3)
    counters = [[0] * 3 for _ in range(9)]
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        for location, address in enumerate(addresses.tolist()):
            if sum(a != b for a, b in zip(address, key, strict=True)) <= 3:
                for place, bit in enumerate(value):
                    counters[location][place] += 1 if bit else -1
    trace = memory.store(keys, values)
    assert trace.tolist() == counters
    for cue, found in zip(cues.tolist(), memory.decode(cues, trace).tolist(), strict=True):
        near = [
            location
            for location, address in enumerate(addresses.tolist())
            if sum(a != b for a, b in zip(address, cue, strict=True)) <= 3
        ]
        assert found == [float(sum(counters[location][place] for location in near) >= 0) for place in range(3)]


@pytest.mark.parametrize("radius", [0, 2, 6])
def test_similarity_form(radius: int) -> None:
    addresses, cues = bits(20, 6), bits(8, 6, seed=1)
    memory = SparseDistributedMemory(addresses=addresses, radius=radius)
    similar = torch.einsum("nd,pd->pn", signs(addresses), signs(cues)) >= 6 - 2 * radius
    assert torch.equal(memory.chosen(cues).bool(), similar)
    assert torch.equal(hamming(addresses, addresses).diagonal(), torch.zeros(20))


def test_noisy_cues_come_nearer_by_reading_on() -> None:
    memory = SparseDistributedMemory(addresses=bits(2_000, 128), radius=radius_for(0.02, 128))
    items = bits(20, 128, seed=1)
    counters = memory.store(items, items)
    reads = islice(memory.read_on(flipped(items, 15), counters), 4)
    wrong = [float((read != items).float().mean()) for read in reads]
    assert 0 < wrong[0] < 15 / 128
    assert wrong[-1] == 0.0


def test_sequences_are_followed() -> None:
    memory = SparseDistributedMemory(addresses=bits(2_000, 128), radius=radius_for(0.02, 128))
    sequence = bits(10, 128, seed=1)
    counters = memory.store_sequence(sequence)
    followed = torch.cat(list(islice(memory.read_on(flipped(sequence[:1], 8), counters), 9)))
    assert torch.equal(followed, sequence[1:])


def test_radius_zero_is_a_table_and_the_largest_is_one_location() -> None:
    keys = torch.tensor(list(product((0.0, 1.0), repeat=4)))
    values = bits(16, 5)
    exact = SparseDistributedMemory(addresses=keys, radius=0)
    assert torch.equal(exact.decode(keys, exact.store(keys, values)), values)
    all_of_it = SparseDistributedMemory(addresses=keys, radius=4)
    majority = (signs(values).sum(dim=0) >= 0).float()
    assert torch.equal(all_of_it.decode(keys, all_of_it.store(keys, values)), majority.expand(16, 5))


def test_nothing_chosen_reads_ones() -> None:
    memory = SparseDistributedMemory(addresses=torch.ones(3, 4), radius=0)
    assert torch.equal(memory.decode(torch.zeros(1, 4), torch.zeros(3, 2)), torch.ones(1, 2))


@pytest.mark.parametrize(("distance", "radius"), [(0, 2), (3, 2), (4, 4), (6, 3), (6, 6), (5, 0)])
def test_shared_access_by_counting(distance: int, radius: int) -> None:
    places = torch.tensor(list(product((0.0, 1.0), repeat=6)))
    ends = flipped(torch.zeros(1, 6), distance)
    both = (hamming(places, torch.zeros(1, 6)) <= radius) & (hamming(places, ends) <= radius)
    assert shared_access(distance, 6, radius) == pytest.approx(float(both.float().mean()))


def test_radius_for_a_share() -> None:
    assert [radius_for(share, 4) for share in (0.01, 1 / 16, 0.07, 5 / 16, 1.0)] == [0, 0, 1, 1, 4]


@pytest.mark.parametrize("distance", [0, 8, 16])
def test_errors_follow_the_formula(distance: int) -> None:
    sizes = {"bits": 64, "radius": 24, "locations": 300, "items": 60}
    wrong = []
    for trial in range(20):
        memory = SparseDistributedMemory(addresses=bits(300, 64, seed=trial), radius=24)
        keys, values = bits(60, 64, seed=100 + trial), bits(60, 64, seed=200 + trial)
        wrong.append((memory.decode(flipped(keys, distance), memory.store(keys, values)) != values).float().mean())
    assert float(torch.stack(wrong).mean()) == pytest.approx(bit_error(distance, **sizes), rel=0.1)


def test_a_single_item_is_wrong_only_where_nothing_is_chosen() -> None:
    assert bit_error(0, bits=8, radius=8, locations=5, items=1) == pytest.approx(0.0, abs=1e-12)
    assert bit_error(0, bits=8, radius=0, locations=1, items=1) == pytest.approx(0.5 * (1 - 2**-8))


def test_bad_input() -> None:
    with pytest.raises(UserError, match=r"radius is 9: write a number of bits from 0 to 4"):
        SparseDistributedMemory(addresses=bits(3, 4), radius=9)
    with pytest.raises(UserError, match="works on zeros and ones: write"):
        SparseDistributedMemory(addresses=signs(bits(3, 4)), radius=1)
    with pytest.raises(UserError, match="works on zeros and ones: write"):
        SparseDistributedMemory(addresses=bits(3, 4), radius=1).decode(torch.full((1, 4), 0.5), torch.zeros(3, 2))
    with pytest.raises(UserError, match="share is 0: write a probability above 0"):
        radius_for(0.0, 4)
