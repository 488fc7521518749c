"""Each function against a loop, its invariants, its gradient, and its behaviour where naive forms break."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from mnemon.memory import addressing

from . import reference
from .reference import assert_close, draw, draw_links, draw_unit, draw_weighting

BATCH = 2
SIZES = [(1, 1, 1), (1, 3, 2), (2, 3, 1), (5, 1, 3), (5, 3, 2), (7, 3, 3)]
sizes = pytest.mark.parametrize(("slots", "word", "heads"), SIZES)
STEEPEST = 1000 * (1 + 1e-12)  # 1/√ε, and rounding
several = settings(deadline=None, max_examples=60, derandomize=True)


def lists(tensor: Tensor) -> list[list[float]]:
    return tensor.tolist()


def gradients(function: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Of the sum of what the function returns."""
    leaves = [part.detach().clone().requires_grad_() for part in inputs]
    return torch.autograd.grad(function(*leaves).sum(), leaves)


@sizes
def test_norm(slots: int, word: int, heads: int) -> None:
    vectors = draw(BATCH, slots, word)
    assert_close(addressing.norm(vectors), [[reference.norm(v) for v in sample] for sample in vectors.tolist()])


@sizes
def test_cosine_similarity(slots: int, word: int, heads: int) -> None:
    memory, keys = draw(BATCH, slots, word), draw(BATCH, heads, word, seed=1)
    expected = [
        [[reference.cosine(key, slot) for slot in lists(memory[b])] for key in lists(keys[b])] for b in range(BATCH)
    ]
    assert_close(addressing.cosine_similarity(memory, keys), expected)


def test_cosine_of_long_vectors_is_the_cosine() -> None:
    memory, keys = 100 * draw(BATCH, 5, 4), 100 * draw(BATCH, 3, 4, seed=1)
    exact = torch.nn.functional.cosine_similarity(keys.unsqueeze(2), memory.unsqueeze(1), dim=3)
    torch.testing.assert_close(addressing.cosine_similarity(memory, keys), exact, rtol=0, atol=1e-8)


@sizes
def test_masked_cosine_similarity(slots: int, word: int, heads: int) -> None:
    memory, keys, masks = draw(BATCH, slots, word), draw(BATCH, heads, word, seed=1), draw_unit(BATCH, heads, word)
    expected = [
        [
            [reference.masked_cosine(key, slot, mask) for slot in lists(memory[b])]
            for key, mask in zip(lists(keys[b]), lists(masks[b]), strict=True)
        ]
        for b in range(BATCH)
    ]
    assert_close(addressing.masked_cosine_similarity(memory, keys, masks), expected)


def test_a_full_mask_masks_nothing() -> None:
    memory, keys = draw(BATCH, 5, 3), draw(BATCH, 2, 3, seed=1)
    torch.testing.assert_close(
        addressing.masked_cosine_similarity(memory, keys, torch.ones_like(keys)),
        addressing.cosine_similarity(memory, keys),
    )


def test_a_masked_part_of_the_word_plays_no_part() -> None:
    memory, keys = draw(BATCH, 5, 3), draw(BATCH, 2, 3, seed=1)
    masks = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64).expand_as(keys)
    kept = [0, 2]
    torch.testing.assert_close(
        addressing.masked_cosine_similarity(memory, keys, masks),
        addressing.cosine_similarity(memory[..., kept], keys[..., kept]),
    )


@sizes
def test_content_weights(slots: int, word: int, heads: int) -> None:
    similarity, strengths = draw(BATCH, heads, slots).tanh(), 9 * draw_unit(BATCH, heads)
    expected = [
        [reference.content_weights(lists(similarity[b])[h], float(strengths[b, h])) for h in range(heads)]
        for b in range(BATCH)
    ]
    assert_close(addressing.content_weights(similarity, strengths), expected)


@sizes
def test_interpolate(slots: int, word: int, heads: int) -> None:
    content, previous = draw_weighting(BATCH, heads, slots), draw_weighting(BATCH, heads, slots, seed=1)
    gates = draw_unit(BATCH, heads)
    expected = [
        [reference.interpolate(lists(content[b])[h], lists(previous[b])[h], float(gates[b, h])) for h in range(heads)]
        for b in range(BATCH)
    ]
    assert_close(addressing.interpolate(content, previous, gates), expected)


@sizes
@pytest.mark.parametrize("reach", [0, 1, 2])
def test_circular_shift(slots: int, word: int, heads: int, reach: int) -> None:
    weights, shifts = draw_weighting(BATCH, heads, slots), draw(BATCH, heads, 2 * reach + 1).softmax(2)
    expected = [
        [reference.circular_shift(lists(weights[b])[h], lists(shifts[b])[h]) for h in range(heads)]
        for b in range(BATCH)
    ]
    assert_close(addressing.circular_shift(weights, shifts), expected)


@pytest.mark.parametrize("slots", [1, 2, 5])
@pytest.mark.parametrize(("place", "move"), [(0, -2), (1, -1), (2, 0), (3, 1), (4, 2)])
def test_a_certain_shift_moves_the_focus_round(slots: int, place: int, move: int) -> None:
    shifts = torch.eye(5)[place].view(1, 1, 5)
    for start in range(slots):
        weights = torch.eye(slots)[start].view(1, 1, slots)
        moved = addressing.circular_shift(weights, shifts)
        assert moved.flatten().tolist() == torch.eye(slots)[(start + move) % slots].tolist()


@sizes
def test_sharpen(slots: int, word: int, heads: int) -> None:
    weights, exponents = draw_weighting(BATCH, heads, slots), 1 + 5 * draw_unit(BATCH, heads)
    weights[0, 0, 0] = 0
    expected = [
        [reference.sharpen(lists(weights[b])[h], float(exponents[b, h])) for h in range(heads)] for b in range(BATCH)
    ]
    assert_close(addressing.sharpen(weights, exponents), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("exponent", [1.0, 10.0, 1e4])
def test_sharpening_many_slots_does_not_underflow(dtype: torch.dtype, exponent: float) -> None:
    uniform = torch.full((1, 1, 128), 1 / 128, dtype=dtype)
    sharpened = addressing.sharpen(uniform, torch.tensor([[exponent]], dtype=dtype))
    torch.testing.assert_close(sharpened, uniform)
    peaked = uniform.clone()
    peaked[..., 5] *= 2
    sharpened = addressing.sharpen(peaked, torch.tensor([[exponent]], dtype=dtype))
    torch.testing.assert_close(sharpened.sum(2), torch.ones(1, 1, dtype=dtype))
    assert sharpened.argmax() == 5


def test_sharpening_nothing_is_uniform_with_a_finite_gradient() -> None:
    weights, exponents = torch.zeros(1, 2, 5), torch.tensor([[1.0, 1e4]])
    torch.testing.assert_close(addressing.sharpen(weights, exponents), torch.full((1, 2, 5), 0.2))
    for gradient in gradients(lambda *inputs: addressing.sharpen(*inputs)[..., 0], weights, exponents):
        assert gradient.isfinite().all()


def test_sharpening_takes_what_rounding_left_below_zero_as_zero() -> None:
    weights = torch.tensor([[[-1e-8, 0.25, 0.75]]])
    sharpened = addressing.sharpen(weights, torch.ones(1, 1))
    torch.testing.assert_close(sharpened, torch.tensor([[[0.0, 0.25, 0.75]]]))


@pytest.mark.parametrize("total", [1.0, 1e-6, 1e-30, 1e-37])
def test_sharpening_a_faint_weighting_has_a_finite_gradient(total: float) -> None:
    weights, exponents = torch.full((1, 1, 2), total / 2), torch.tensor([[1e4]])
    for gradient in gradients(lambda *inputs: addressing.sharpen(*inputs)[..., 0], weights, exponents):
        assert gradient.isfinite().all()


@sizes
def test_retention(slots: int, word: int, heads: int) -> None:
    gates, weights = draw_unit(BATCH, heads), draw_weighting(BATCH, heads, slots)
    expected = [reference.retention(lists(gates)[b], lists(weights[b])) for b in range(BATCH)]
    assert_close(addressing.retention(gates, weights), expected)


@sizes
def test_usage(slots: int, word: int, heads: int) -> None:
    previous, written, kept = draw_unit(BATCH, slots), draw_weighting(BATCH, slots), draw_unit(BATCH, slots, seed=1)
    expected = [reference.usage(lists(previous)[b], lists(written)[b], lists(kept)[b]) for b in range(BATCH)]
    assert_close(addressing.usage(previous, written, kept), expected)


@sizes
def test_allocation(slots: int, word: int, heads: int) -> None:
    used = draw_unit(BATCH, slots)
    used[0, 0] = 0
    assert_close(addressing.allocation(used), [reference.allocation(sample) for sample in lists(used)])


def test_allocation_picks_the_free_slot() -> None:
    used = torch.tensor([[0.9, 1.0, 0.0, 0.8], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    expected = torch.tensor([[0.0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]], dtype=torch.float64)
    torch.testing.assert_close(addressing.allocation(used), expected, rtol=0, atol=3e-6)


@pytest.mark.parametrize("floor", [0.0, 1e-6, 1e-4, 1e-2])
def test_allocation_has_the_same_gradient_in_single_precision(floor: float) -> None:
    used = draw_unit(20, 5).float()
    used[:, :2] *= floor
    upstream = draw(20, 5).float()
    (single,) = gradients(lambda u: upstream * addressing.allocation(u), used)
    (double,) = gradients(lambda u: upstream * addressing.allocation(u), used.double())
    torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-5)


@sizes
def test_write_weights(slots: int, word: int, heads: int) -> None:
    content, allocated = draw_weighting(BATCH, slots), draw_weighting(BATCH, slots, seed=1)
    allocation_gate, write_gate = draw_unit(BATCH, seed=2), draw_unit(BATCH, seed=3)
    expected = [
        reference.write_weights(lists(content)[b], lists(allocated)[b], float(allocation_gate[b]), float(write_gate[b]))
        for b in range(BATCH)
    ]
    assert_close(addressing.write_weights(content, allocated, allocation_gate, write_gate), expected)


@sizes
def test_precedence(slots: int, word: int, heads: int) -> None:
    previous, written = draw_weighting(BATCH, slots), draw_weighting(BATCH, slots, seed=1)
    expected = [reference.precedence(lists(previous)[b], lists(written)[b]) for b in range(BATCH)]
    assert_close(addressing.precedence(previous, written), expected)


@sizes
def test_temporal_links(slots: int, word: int, heads: int) -> None:
    links = draw_links(BATCH, slots)
    last, written = draw_weighting(BATCH, slots, seed=1), draw_weighting(BATCH, slots, seed=2)
    expected = [reference.temporal_links(lists(links[b]), lists(last)[b], lists(written)[b]) for b in range(BATCH)]
    assert_close(addressing.temporal_links(links, last, written), expected)


@sizes
def test_follow_and_retrace(slots: int, word: int, heads: int) -> None:
    links, weights = draw_links(BATCH, slots), draw_weighting(BATCH, heads, slots, seed=1)
    forward = [[reference.follow(lists(links[b]), w) for w in lists(weights[b])] for b in range(BATCH)]
    backward = [[reference.retrace(lists(links[b]), w) for w in lists(weights[b])] for b in range(BATCH)]
    assert_close(addressing.follow(links, weights), forward)
    assert_close(addressing.retrace(links, weights), backward)


def test_links_remember_the_order_of_writing() -> None:
    slots, first, second, third = 5, 3, 0, 4
    focus = torch.eye(slots).unsqueeze(1)
    links, last = torch.zeros(1, slots, slots), torch.zeros(1, slots)
    for slot in (first, second, third):
        links = addressing.temporal_links(links, last, focus[slot])
        last = addressing.precedence(last, focus[slot])
    assert torch.equal(last, focus[third])
    at = focus.unsqueeze(1)
    assert torch.equal(addressing.follow(links, at[first]), at[second])
    assert torch.equal(addressing.follow(links, at[second]), at[third])
    assert torch.equal(addressing.retrace(links, at[third]), at[second])
    assert torch.equal(addressing.retrace(links, at[second]), at[first])
    assert not addressing.follow(links, at[third]).any()
    assert not addressing.retrace(links, at[first]).any()


def test_writing_a_slot_again_forgets_its_old_links() -> None:
    focus = torch.eye(3).unsqueeze(1)
    links, last = torch.zeros(1, 3, 3), torch.zeros(1, 3)
    for slot in (0, 1, 2, 0):
        links = addressing.temporal_links(links, last, focus[slot])
        last = addressing.precedence(last, focus[slot])
    expected = torch.zeros(1, 3, 3)
    expected[0, 2, 1] = expected[0, 0, 2] = 1  # 2 was written after 1, 0 after 2; no longer 1 after 0
    assert torch.equal(links, expected)


@sizes
def test_mix_read_modes(slots: int, word: int, heads: int) -> None:
    modes = draw(BATCH, heads, 3).softmax(2)
    parts = [draw_weighting(BATCH, heads, slots, seed=seed) for seed in range(3)]
    expected = [
        [reference.mix_read_modes(lists(modes[b])[h], *(lists(part[b])[h] for part in parts)) for h in range(heads)]
        for b in range(BATCH)
    ]
    assert_close(addressing.mix_read_modes(modes, *parts), expected)


@sizes
def test_least_used(slots: int, word: int, heads: int) -> None:
    used = draw_unit(BATCH, slots).round(decimals=1)
    for count in range(1, slots + 1):
        expected = [reference.least_used(sample, count) for sample in lists(used)]
        assert_close(addressing.least_used(used, count), expected, tolerance=0)


def test_least_used_of_equals_are_the_first_whatever_the_rounding() -> None:
    noise = 1e-6 * draw_unit(1, 40).float()
    for used in (torch.zeros(1, 40), 5 + noise, 0.2 + noise.flip(1)):
        assert addressing.least_used(used, 3).tolist() == [[1.0] * 3 + [0.0] * 37]


def test_least_used_has_no_gradient() -> None:
    assert not addressing.least_used(torch.zeros(1, 4, requires_grad=True), 2).requires_grad


@sizes
def test_read(slots: int, word: int, heads: int) -> None:
    memory, weights = draw(BATCH, slots, word), draw_weighting(BATCH, heads, slots)
    expected = [[reference.read(lists(memory[b]), w) for w in lists(weights[b])] for b in range(BATCH)]
    assert_close(addressing.read(memory, weights), expected)


@sizes
def test_erase_and_add(slots: int, word: int, heads: int) -> None:
    memory, weights = draw(BATCH, slots, word), draw_weighting(BATCH, heads, slots)
    erase, add = draw_unit(BATCH, heads, word), draw(BATCH, heads, word, seed=1)
    before = memory.clone()
    expected = [
        reference.erase_and_add(lists(memory[b]), lists(weights[b]), lists(erase[b]), lists(add[b]))
        for b in range(BATCH)
    ]
    assert_close(addressing.erase_and_add(memory, weights, erase, add), expected)
    assert torch.equal(memory, before)


def unmasked(memory: Tensor, keys: Tensor) -> Tensor:
    return addressing.masked_cosine_similarity(memory, keys, torch.ones_like(keys))


@pytest.mark.parametrize("similarity", [addressing.cosine_similarity, unmasked])
@pytest.mark.parametrize(("memory_scale", "key_scale"), [(0, 1), (1, 0), (0, 0)])
def test_nothing_is_similar_to_nothing(
    similarity: Callable[..., Tensor], memory_scale: float, key_scale: float
) -> None:
    memory, key = memory_scale * draw(1, 1, 3), key_scale * draw(1, 1, 3, seed=1)
    assert similarity(memory, key).item() == 0
    for gradient in gradients(similarity, memory, key):
        assert gradient.norm() <= STEEPEST


@given(st.floats(1e-20, 1e6), st.floats(1e-20, 1e6), st.integers(0, 99))
@several
def test_similarity_and_its_gradient_are_bounded(memory_scale: float, key_scale: float, seed: int) -> None:
    memory, key = memory_scale * draw(1, 1, 3, seed=seed), key_scale * draw(1, 1, 3, seed=seed + 100)
    assert abs(addressing.cosine_similarity(memory, key).item()) <= 1
    for gradient in gradients(addressing.cosine_similarity, memory, key):
        assert gradient.norm() <= STEEPEST


@pytest.mark.parametrize("strength", [0.0, 1.0, 1e4])
def test_look_up_with_any_strength_is_a_weighting(strength: float) -> None:
    memory = draw(1, 7, 3).float()
    keys = memory[:, 4:5]

    def look_up(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
        return addressing.content_weights(addressing.cosine_similarity(memory, keys), strengths)

    weights = look_up(memory, keys, torch.tensor([[strength]]))
    torch.testing.assert_close(weights.sum(2), torch.ones(1, 1))
    if strength == 0:
        torch.testing.assert_close(weights, torch.full_like(weights, 1 / 7))
    if strength == 1e4:
        assert weights[0, 0, 4] > 0.99
    for gradient in gradients(lambda *inputs: look_up(*inputs)[..., 0], memory, keys, torch.tensor([[strength]])):
        assert gradient.isfinite().all()


def test_one_slot_gets_all_attention() -> None:
    memory, keys = draw(1, 1, 3), draw(1, 2, 3, seed=1)
    weights = addressing.content_weights(addressing.cosine_similarity(memory, keys), draw_unit(1, 2))
    assert weights.flatten().tolist() == [1.0, 1.0]
    assert addressing.sharpen(0.3 * weights, 1 + draw_unit(1, 2)).flatten().tolist() == [1.0, 1.0]
    assert not addressing.temporal_links(torch.ones(1, 1, 1), torch.ones(1, 1), torch.ones(1, 1)).any()


fractions = st.floats(0, 1, width=32)
TOLERANCE = 1e-5  # of sums in single precision


@st.composite
def slot_vectors(draw_from: st.DrawFn, count: int) -> list[Tensor]:
    """Vectors over the same slots with entries in [0, 1], (1, N) each."""
    slots = draw_from(st.integers(1, 6))
    return [torch.tensor([draw_from(st.lists(fractions, min_size=slots, max_size=slots))]) for _ in range(count)]


def as_weighting(vector: Tensor) -> Tensor:
    return vector / vector.sum(-1, keepdim=True).clamp_min(1)


def assert_weighting(weights: Tensor) -> None:
    assert weights.min() >= -TOLERANCE
    assert weights.max() <= 1 + TOLERANCE
    assert weights.sum(-1).max() <= 1 + TOLERANCE


@given(slot_vectors(2), fractions, st.floats(0, 1e4, width=32))
@several
def test_content_and_interpolation_give_weightings(vectors: list[Tensor], gate: float, strength: float) -> None:
    similarity, previous = (vector.unsqueeze(1) for vector in vectors)
    content = addressing.content_weights(2 * similarity - 1, torch.tensor([[strength]]))
    assert_weighting(content)
    torch.testing.assert_close(content.sum(2), torch.ones(1, 1))
    assert_weighting(addressing.interpolate(content, as_weighting(previous), torch.tensor([[gate]])))


@given(slot_vectors(1), st.lists(fractions, min_size=3, max_size=3), st.floats(1, 1e4, width=32))
@several
def test_shift_and_sharpening_keep_weightings(vectors: list[Tensor], shifts: list[float], exponent: float) -> None:
    weights = as_weighting(vectors[0]).unsqueeze(1)
    shifted = addressing.circular_shift(weights, torch.tensor([[shifts]]).softmax(2))
    assert_weighting(shifted)
    torch.testing.assert_close(shifted.sum(2), weights.sum(2))
    sharpened = addressing.sharpen(shifted, torch.tensor([[exponent]]))
    assert_weighting(sharpened)
    torch.testing.assert_close(sharpened.sum(2), torch.ones(1, 1))


@given(slot_vectors(4), fractions, fractions)
@several
def test_usage_stays_between_zero_and_one(vectors: list[Tensor], first_gate: float, second_gate: float) -> None:
    previous, written, *reads = vectors
    kept = addressing.retention(torch.tensor([[first_gate, second_gate]]), torch.stack(reads, dim=1))
    assert kept.min() >= 0
    assert kept.max() <= 1
    used = addressing.usage(previous, written, kept)
    assert used.min() >= 0
    assert used.max() <= 1


@given(slot_vectors(2), fractions, fractions)
@several
def test_allocation_and_writing_give_weightings(
    vectors: list[Tensor], allocation_gate: float, write_gate: float
) -> None:
    used, content = vectors
    allocated = addressing.allocation(used)
    assert_weighting(allocated)
    written = addressing.write_weights(
        as_weighting(content), allocated, torch.tensor([allocation_gate]), torch.tensor([write_gate])
    )
    assert_weighting(written)
    assert written.sum() <= write_gate + TOLERANCE


@given(st.lists(slot_vectors(1), min_size=1, max_size=6), st.integers(1, 5))
@several
def test_links_stay_links(writes: list[list[Tensor]], slots: int) -> None:
    links, last = torch.zeros(1, slots, slots), torch.zeros(1, slots)
    for (vector,) in writes:
        written = as_weighting(torch.nn.functional.pad(vector, (0, 6))[:, :slots])
        links = addressing.temporal_links(links, last, written)
        last = addressing.precedence(last, written)
        assert_weighting(last)
        assert_weighting(links)
        assert_weighting(links.mT)
        assert not links.diagonal(dim1=1, dim2=2).any()
        assert_weighting(addressing.follow(links, written.unsqueeze(1)))
        assert_weighting(addressing.retrace(links, written.unsqueeze(1)))


@given(slot_vectors(3), st.lists(st.floats(-10, 10), min_size=3, max_size=3))
@several
def test_mixing_weightings_gives_a_weighting(vectors: list[Tensor], modes: list[float]) -> None:
    parts = [as_weighting(vector).unsqueeze(1) for vector in vectors]
    assert_weighting(addressing.mix_read_modes(torch.tensor([[modes]]).softmax(2), *parts))


@given(slot_vectors(1), st.data())
@several
def test_least_used_marks_exactly_so_many(vectors: list[Tensor], data: st.DataObject) -> None:
    used = vectors[0]
    count = data.draw(st.integers(1, used.shape[1]))
    marked = addressing.least_used(used, count)
    assert sorted(marked[0].tolist()) == [0.0] * (used.shape[1] - count) + [1.0] * count
    if count < used.shape[1]:
        assert used[marked == 1].max() <= used[marked == 0].min() + 1e-4


N, W, R = 3, 2, 2
GRADIENTS: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "norm": (addressing.norm, (draw(BATCH, W),)),
    "cosine_similarity": (addressing.cosine_similarity, (draw(BATCH, N, W), draw(BATCH, R, W, seed=1))),
    "masked_cosine_similarity": (
        addressing.masked_cosine_similarity,
        (draw(BATCH, N, W), draw(BATCH, R, W, seed=1), draw_unit(BATCH, R, W)),
    ),
    "content_weights": (addressing.content_weights, (draw(BATCH, R, N), 3 * draw_unit(BATCH, R))),
    "interpolate": (
        addressing.interpolate,
        (draw_weighting(BATCH, R, N), draw_weighting(BATCH, R, N, seed=1), draw_unit(BATCH, R)),
    ),
    "circular_shift": (addressing.circular_shift, (draw_weighting(BATCH, R, N), draw_unit(BATCH, R, 3))),
    "sharpen": (addressing.sharpen, (0.05 + draw_weighting(BATCH, R, N), 1 + draw_unit(BATCH, R))),
    "retention": (addressing.retention, (draw_unit(BATCH, R), draw_weighting(BATCH, R, N))),
    "retention of ones": (
        addressing.retention,
        (torch.ones(1, R, dtype=torch.float64), torch.ones(1, R, N, dtype=torch.float64)),
    ),
    "usage": (addressing.usage, (draw_unit(BATCH, N), draw_unit(BATCH, N, seed=1), draw_unit(BATCH, N, seed=2))),
    "allocation": (addressing.allocation, (0.05 + 0.9 * draw_unit(BATCH, 4),)),
    "write_weights": (
        addressing.write_weights,
        (draw_weighting(BATCH, N), draw_weighting(BATCH, N, seed=1), draw_unit(BATCH), draw_unit(BATCH, seed=1)),
    ),
    "precedence": (addressing.precedence, (draw_weighting(BATCH, N), draw_weighting(BATCH, N, seed=1))),
    "temporal_links": (
        addressing.temporal_links,
        (draw_links(BATCH, N), draw_weighting(BATCH, N), draw_weighting(BATCH, N, seed=1)),
    ),
    "follow": (addressing.follow, (draw_links(BATCH, N), draw_weighting(BATCH, R, N))),
    "retrace": (addressing.retrace, (draw_links(BATCH, N), draw_weighting(BATCH, R, N))),
    "mix_read_modes": (
        addressing.mix_read_modes,
        (draw_unit(BATCH, R, 3), *(draw_weighting(BATCH, R, N, seed=seed) for seed in range(3))),
    ),
    "read": (addressing.read, (draw(BATCH, N, W), draw_weighting(BATCH, R, N))),
    "erase_and_add": (
        addressing.erase_and_add,
        (draw(BATCH, N, W), draw_weighting(BATCH, R, N), draw_unit(BATCH, R, W), draw(BATCH, R, W, seed=1)),
    ),
}


@pytest.mark.parametrize(("function", "inputs"), GRADIENTS.values(), ids=GRADIENTS.keys())
def test_gradient(function: Callable[..., Tensor], inputs: tuple[Tensor, ...]) -> None:
    leaves = tuple(part.clone().requires_grad_() for part in inputs)
    assert torch.autograd.gradcheck(function, leaves)
