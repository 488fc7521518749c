"""How a memory is addressed: pure functions of tensors (thesis §3.3, "Slot-Based Memory Networks").

Letters: ``B`` batch, ``H`` heads, ``R`` read heads, ``N`` slots, ``W`` word, ``S`` shifts.

Every function returns new tensors, bounded with bounded gradients, also for memories, keys and weightings that are
exactly zero. A weighting is a vector over slots with entries in [0, 1]; except for those that LRUA writes with, they
sum to at most one.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, einsum
from torch.nn import functional as F

EPSILON = 1e-6  # added under the square root of a norm, and the floor of usage
UNWRITTEN = 0.01  # what slots hold at first, where a memory begins alike everywhere; see ``cosine_similarity``


def norm(vectors: Float[Tensor, "*batch W"]) -> Float[Tensor, "*batch"]:
    """Euclidean length √(‖v‖² + ε), whose gradient at v = 0 is zero rather than undefined."""
    return torch.sqrt(vectors.square().sum(-1) + EPSILON)


def unit(vectors: Float[Tensor, "*batch W"]) -> Float[Tensor, "*batch W"]:
    """v / √(‖v‖² + ε): of length one, and zero where v is."""
    return vectors / norm(vectors).unsqueeze(-1)


def cosine_similarity(memory: Float[Tensor, "B N W"], keys: Float[Tensor, "B H W"]) -> Float[Tensor, "B H N"]:
    """Cosine of every key with every slot; 0 where either is zero, with a gradient of at most 1/√ε.

    A slot far shorter than √ε is as good as zero, neither like a key nor unlike it, and would take a share of every
    look-up; keys can turn away from slots that begin at ``UNWRITTEN``.
    """
    scale = norm(keys).unsqueeze(2) * norm(memory).unsqueeze(1)
    return einsum("bhw,bnw->bhn", keys, memory) / scale


def masked_cosine_similarity(
    memory: Float[Tensor, "B N W"], keys: Float[Tensor, "B H W"], masks: Float[Tensor, "B H W"]
) -> Float[Tensor, "B H N"]:
    """Cosine of m∘k with m∘M(i): a head looks up by part of the word only (Csordás & Schmidhuber, 2019)."""
    squared_mask = masks.square()
    slot_norms = torch.sqrt(einsum("bhw,bnw->bhn", squared_mask, memory.square()) + EPSILON)
    dot = einsum("bhw,bnw->bhn", squared_mask * keys, memory)
    return dot / (norm(masks * keys).unsqueeze(2) * slot_norms)


def content_weights(similarity: Float[Tensor, "B H N"], strengths: Float[Tensor, "B H"]) -> Float[Tensor, "B H N"]:
    """w^c = softmax over the slots of β · similarity (eq. cbaseatt)."""
    return torch.softmax(strengths.unsqueeze(2) * similarity, dim=2)


def interpolate(
    content: Float[Tensor, "B H N"], previous: Float[Tensor, "B H N"], gates: Float[Tensor, "B H"]
) -> Float[Tensor, "B H N"]:
    """w^g_t = g w^c_t + (1 − g) w_{t−1}: look up anew, or stay where the head was."""
    return torch.lerp(previous, content, gates.unsqueeze(2))


def circular_shift(weights: Float[Tensor, "B H N"], shifts: Float[Tensor, "B H S"]) -> Float[Tensor, "B H N"]:
    """w̃(i) = Σ_j w(j) s((i − j) mod N), where the S shifts are the moves −⌊S/2⌋ … ⌊S/2⌋."""
    reach = shifts.shape[2] // 2
    shares = dict(zip(range(-reach, reach + 1), shifts.unsqueeze(2).unbind(3), strict=True))
    shifted = weights * shares.pop(0)
    for move, share in shares.items():
        shifted = shifted + weights.roll(move, dims=2) * share
    return shifted


def sharpen(weights: Float[Tensor, "B H N"], exponents: Float[Tensor, "B H"]) -> Float[Tensor, "B H N"]:
    """w(i)^γ / Σ_j w(j)^γ, in logarithms: w^γ alone underflows for many slots and a large γ.

    Weights below 1e-20 count as 1e-20, which bounds the gradient γ/Σw of a weighting that is all but zero.
    """
    logarithms = weights.clamp_min(1e-20).log()
    return torch.softmax(exponents.unsqueeze(2) * logarithms, dim=2)


def retention(free_gates: Float[Tensor, "B R"], read_weights: Float[Tensor, "B R N"]) -> Float[Tensor, "B N"]:
    """ψ_t = Π_k (1 − f^k w^{r,k}_{t−1}): how much of each slot is kept after what was read may be freed."""
    return torch.prod(1 - free_gates.unsqueeze(2) * read_weights, dim=1)


def usage(
    previous: Float[Tensor, "B N"], write_weights: Float[Tensor, "B N"], kept: Float[Tensor, "B N"]
) -> Float[Tensor, "B N"]:
    """u_t = (u + w^w − u∘w^w)_{t−1} ∘ ψ_t: writing uses a slot, freeing releases it."""
    return (previous + write_weights - previous * write_weights) * kept


def from_least_used(used: Float[Tensor, "B N"]) -> Int[Tensor, "B N"]:
    """φ, the slots from least to most used. No gradient.

    Slots that hold the same are treated alike, so their usages tie but for rounding. A slight slope over the slots
    settles such ties in favour of the first; otherwise a batch would differ from its rows one by one.
    """
    slope = 4e-6 * torch.arange(used.shape[1], dtype=used.dtype, device=used.device)
    settled = used + (1 + used.amax(1, keepdim=True)) * slope
    return torch.argsort(settled.detach(), dim=1, stable=True)


def allocation(used: Float[Tensor, "B N"]) -> Float[Tensor, "B N"]:
    """a[φ_j] = (1 − u[φ_j]) Π_{i<j} u[φ_i], φ sorting the slots from least to most used.

    Usage is kept off zero, u ← ε + (1 − ε) u, so that every slot's gradient survives; the products are sums of
    logarithms.
    """
    order = from_least_used(used)
    ascending = torch.gather(EPSILON + (1 - EPSILON) * used, 1, order)
    product_of_less_used = F.pad(ascending.log()[:, :-1], (1, 0)).cumsum(1).exp()
    return torch.zeros_like(used).scatter(1, order, (1 - ascending) * product_of_less_used)


def write_weights(
    content: Float[Tensor, "B N"],
    allocated: Float[Tensor, "B N"],
    allocation_gate: Float[Tensor, "B"],
    write_gate: Float[Tensor, "B"],
) -> Float[Tensor, "B N"]:
    """w^w = g^w [g^a a + (1 − g^a) w^{cw}]; the write gate enters here and nowhere else."""
    return write_gate.unsqueeze(1) * torch.lerp(content, allocated, allocation_gate.unsqueeze(1))


def precedence(previous: Float[Tensor, "B N"], written: Float[Tensor, "B N"]) -> Float[Tensor, "B N"]:
    """p_t = (1 − Σ_i w^w(i)) p_{t−1} + w^w: where was last written."""
    return (1 - written.sum(1, keepdim=True)) * previous + written


def temporal_links(
    previous: Float[Tensor, "B N N"],
    previous_precedence: Float[Tensor, "B N"],
    written: Float[Tensor, "B N"],
) -> Float[Tensor, "B N N"]:
    """L_t[i, j] = (1 − w(i) − w(j)) L_{t−1}[i, j] + w(i) p_{t−1}(j), L[i, i] = 0: i was written after j."""
    to, start = written.unsqueeze(2), written.unsqueeze(1)
    links = (1 - to - start) * previous + to * previous_precedence.unsqueeze(1)
    slots = written.shape[1]
    return links * (1 - torch.eye(slots, dtype=links.dtype, device=links.device))


def follow(links: Float[Tensor, "B N N"], read_weights: Float[Tensor, "B R N"]) -> Float[Tensor, "B R N"]:
    """Forward weighting L w^r: the slots written after those that were read."""
    return einsum("bij,brj->bri", links, read_weights)


def retrace(links: Float[Tensor, "B N N"], read_weights: Float[Tensor, "B R N"]) -> Float[Tensor, "B R N"]:
    """Backward weighting Lᵀ w^r: the slots written before those that were read."""
    return einsum("bij,bri->brj", links, read_weights)


def mix_read_modes(
    modes: Float[Tensor, "B R 3"],
    backward: Float[Tensor, "B R N"],
    content: Float[Tensor, "B R N"],
    forward: Float[Tensor, "B R N"],
) -> Float[Tensor, "B R N"]:
    """w^r = π(1) Lᵀw + π(2) w^{cr} + π(3) Lw."""
    return modes[..., 0:1] * backward + modes[..., 1:2] * content + modes[..., 2:3] * forward


def least_used(used: Float[Tensor, "B N"], count: int) -> Float[Tensor, "B N"]:
    """w^{lu}: 1 at the ``count`` least used slots, 0 elsewhere. No gradient."""
    return torch.zeros_like(used).scatter(1, from_least_used(used)[:, :count], 1.0)


def read(memory: Float[Tensor, "B N W"], weights: Float[Tensor, "B R N"]) -> Float[Tensor, "B R W"]:
    """r^k = Σ_i w^{r,k}(i) M(i)."""
    return einsum("brn,bnw->brw", weights, memory)


def erase_and_add(
    memory: Float[Tensor, "B N W"],
    weights: Float[Tensor, "B H N"],
    erase: Float[Tensor, "B H W"],
    add: Float[Tensor, "B H W"],
) -> Float[Tensor, "B N W"]:
    """M_t = M_{t−1} ∘ Π_h (1 − w_h e_hᵀ) + Σ_h w_h v_hᵀ: all heads erase, then all add."""
    for weight, erased in zip(weights.unbind(1), erase.unbind(1), strict=True):
        memory = memory * (1 - weight.unsqueeze(2) * erased.unsqueeze(1))
    return memory + einsum("bhn,bhw->bnw", weights, add)
