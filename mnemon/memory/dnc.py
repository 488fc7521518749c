"""Differentiable Neural Computer (thesis §3.3.4; Graves et al., 2016).

Letters: ``B`` batch, ``R`` read heads, ``N`` slots, ``W`` word.

One write head goes to the slots that match its key or to free ones; read heads look up by content or follow, forward or
backward, the order in which the slots were written. A step is: usage → write → links → precedence → read.

Deviations from the thesis: the write gate acts once, inside w^w (printed: twice); usage frees by the *previous* reads
w^r_{t−1} (printed: w^r_t); L[i, i] = 0; usage is lifted off zero for allocation; M_0 is 0.01 rather than 1e-6, so that
look-ups can leave slots aside that were never written.

Options beyond the thesis: ``links=False`` leaves out the link matrix, so that the cost is linear in the slots, and the
read heads look up by content alone. The three repairs of Csordás & Schmidhuber (2019): ``masked_lookup`` (keys address
part of a word), ``erase_freed`` (freeing a slot erases its content), ``sharp_links`` (forward and backward weightings
are sharpened, so that they do not blur as links are followed).
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import DNCRecipe
from mnemon.memory import addressing
from mnemon.memory.base import Memory, check_sizes

_START = 1e-6  # w_0 and r_0


class DNCInterface(NamedTuple):
    """The parts of a DNC's interface vector. Options that are off leave empty tensors."""

    read_keys: Float[Tensor, "B R W"]  # k^{r,k}_t
    read_strengths: Float[Tensor, "B R"]  # β^{r,k}_t ≥ 1
    free_gates: Float[Tensor, "B R"]  # f^k_t
    read_modes: Float[Tensor, "B R modes"]  # π^k_t: backward, content, forward
    read_masks: Float[Tensor, "B R masked"]  # which part of the word a key looks at
    link_sharpness: Float[Tensor, "B R sharp"]  # backward, forward; ≥ 1
    write_key: Float[Tensor, "B W"]  # k^w_t
    write_strength: Float[Tensor, "B"]  # β^w_t ≥ 1
    erase: Float[Tensor, "B W"]  # e_t
    write_vector: Float[Tensor, "B W"]  # v_t
    allocation_gate: Float[Tensor, "B"]  # g^a_t
    write_gate: Float[Tensor, "B"]  # g^w_t
    write_mask: Float[Tensor, "B masked"]


class DNCState(NamedTuple):
    """What a DNC's memory carries from step to step. Without links their two tensors are empty."""

    memory: Float[Tensor, "B N W"]  # M_t
    usage: Float[Tensor, "B N"]  # u_t
    links: Float[Tensor, "B L L"]  # L_t
    precedence: Float[Tensor, "B L"]  # p_t
    read_weights: Float[Tensor, "B R N"]  # w^{r,k}_t
    write_weights: Float[Tensor, "B N"]  # w^w_t
    reads: Float[Tensor, "B R W"]  # r_t


class DNCMemory(Memory[DNCInterface, DNCState]):
    """A memory with dynamic allocation and temporal links.

    Args:
        slots: N, the number of slots.
        word: W, the size of a slot.
        reads: R, the number of read heads.
        links: keep the temporal link matrix (N² numbers) and the read modes that follow it.
        masked_lookup: give every key a mask over the word.
        erase_freed: erase what the free gates release.
        sharp_links: sharpen the forward and backward weightings.
        read_first: read the memory before it is written rather than after.
        clip: bound of the interface vector, ±20 as published; None for no bound.
        own: the first and the end of the slots that it writes; all are read. Memories with different ones can share a
            state (thesis §4.4, early fusion). None: all.
    """

    def __init__(
        self,
        slots: int,
        word: int,
        reads: int = 1,
        *,
        links: bool = True,
        masked_lookup: bool = False,
        erase_freed: bool = False,
        sharp_links: bool = False,
        read_first: bool = False,
        clip: float | None = 20.0,
        own: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads)
        if sharp_links and not links:
            raise UserError("sharp_links needs links: write links=True, or leave sharp_links out")
        if clip is not None and not clip > 0:
            raise UserError(f"clip must be above 0, or None for no bound, got {clip}")
        if own is not None and not 0 <= own[0] < own[1] <= slots:
            raise UserError(f"own must be slots from 0 to {slots}, the first before the end, got {own}")
        self.slots, self.word, self.reads, self.own = slots, word, reads, own
        self.links, self.masked_lookup, self.erase_freed = links, masked_lookup, erase_freed
        self.sharp_links, self.read_first, self.clip = sharp_links, read_first, clip
        self.recipe = DNCRecipe()

    @property
    def _read_parts(self) -> list[int]:
        masked = self.word if self.masked_lookup else 0
        return [self.word, 1, 1, 3 if self.links else 0, masked, 2 if self.sharp_links else 0]

    @property
    def _write_parts(self) -> list[int]:
        masked = self.word if self.masked_lookup else 0
        return [self.word, 1, self.word, self.word, 1, 1, masked]

    @property
    def write_vector_places(self) -> slice:
        """Where the interface vector has what is written."""
        first = self.reads * sum(self._read_parts) + sum(self._write_parts[:3])
        return slice(first, first + self.word)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """All read heads as one group, then the write head."""
        return (self.reads * sum(self._read_parts), sum(self._write_parts))

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> DNCState:
        """M starts at 0.01; w and r at 1e-6; usage, precedence and links at 0."""

        def fill(value: float, *shape: int) -> Tensor:
            return torch.full((batch, *shape), value, device=device, dtype=dtype)

        linked = self.slots if self.links else 0
        return DNCState(
            memory=fill(addressing.UNWRITTEN, self.slots, self.word),
            usage=fill(0.0, self.slots),
            links=fill(0.0, linked, linked),
            precedence=fill(0.0, linked),
            read_weights=fill(_START, self.reads, self.slots),
            write_weights=fill(_START, self.slots),
            reads=fill(_START, self.reads, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> DNCInterface:
        """Read heads first, [k, β, f, π, mask, sharpness] each; then the write head, [k, β, e, v, g^a, g^w, mask]."""
        if self.clip is not None:
            vector = vector.clamp(-self.clip, self.clip)
        reading, writing = vector.split_with_sizes(list(self.head_sizes), dim=1)
        heads = reading.view(vector.shape[0], self.reads, sum(self._read_parts))
        read_keys, read_strengths, free_gates, modes, read_masks, sharpness = heads.split_with_sizes(
            self._read_parts, dim=2
        )
        key, strength, erase, write_vector, allocation_gate, write_gate, mask = writing.split_with_sizes(
            self._write_parts, dim=1
        )
        return DNCInterface(
            read_keys=read_keys,
            read_strengths=1 + F.softplus(read_strengths).squeeze(2),
            free_gates=torch.sigmoid(free_gates).squeeze(2),
            read_modes=torch.softmax(modes, dim=2),
            read_masks=torch.sigmoid(read_masks),
            link_sharpness=1 + F.softplus(sharpness),
            write_key=key,
            write_strength=1 + F.softplus(strength).squeeze(1),
            erase=torch.sigmoid(erase),
            write_vector=write_vector,
            allocation_gate=torch.sigmoid(allocation_gate).squeeze(1),
            write_gate=torch.sigmoid(write_gate).squeeze(1),
            write_mask=torch.sigmoid(mask),
        )

    def forward(self, interface: DNCInterface, state: DNCState, write: bool = True) -> DNCState:
        """One step.

        Without writing, the write gate is closed and nothing is erased; reads still move, and free slots for later.
        """
        kept = addressing.retention(interface.free_gates, state.read_weights)  # ψ_t
        usage = addressing.usage(state.usage, state.write_weights, kept)
        memory, links, precedence = state.memory, state.links, state.precedence
        written = torch.zeros_like(state.write_weights)
        if write:
            written = self._find_write(interface, state.memory, usage)
            memory = self._write(interface, state.memory, written, kept)
            if self.links:
                links = addressing.temporal_links(state.links, state.precedence, written)
                precedence = addressing.precedence(state.precedence, written)
        readable, followed = (state.memory, state.links) if self.read_first else (memory, links)
        read_weights = self._find_reads(interface, readable, followed, state.read_weights)
        reads = addressing.read(readable, read_weights)
        return DNCState(memory, usage, links, precedence, read_weights, written, reads)

    def _find_write(
        self, interface: DNCInterface, memory: Float[Tensor, "B N W"], usage: Float[Tensor, "B N"]
    ) -> Float[Tensor, "B N"]:
        first, end = (0, self.slots) if self.own is None else self.own
        key, mask = interface.write_key.unsqueeze(1), interface.write_mask.unsqueeze(1)
        content = self._look_up(memory[:, first:end], key, interface.write_strength.unsqueeze(1), mask).squeeze(1)
        allocated = addressing.allocation(usage[:, first:end])
        written = addressing.write_weights(content, allocated, interface.allocation_gate, interface.write_gate)
        return F.pad(written, (first, self.slots - end))

    def _write(
        self,
        interface: DNCInterface,
        memory: Float[Tensor, "B N W"],
        written: Float[Tensor, "B N"],
        kept: Float[Tensor, "B N"],
    ) -> Float[Tensor, "B N W"]:
        if self.erase_freed:
            memory = memory * kept.unsqueeze(2)
        head = (part.unsqueeze(1) for part in (written, interface.erase, interface.write_vector))
        return addressing.erase_and_add(memory, *head)

    def _find_reads(
        self,
        interface: DNCInterface,
        memory: Float[Tensor, "B N W"],
        links: Float[Tensor, "B L L"],
        previous: Float[Tensor, "B R N"],
    ) -> Float[Tensor, "B R N"]:
        content = self._look_up(memory, interface.read_keys, interface.read_strengths, interface.read_masks)
        if not self.links:
            return content
        backward = addressing.retrace(links, previous)
        forward = addressing.follow(links, previous)
        if self.sharp_links:
            backward = addressing.sharpen(backward, interface.link_sharpness[..., 0])
            forward = addressing.sharpen(forward, interface.link_sharpness[..., 1])
        return addressing.mix_read_modes(interface.read_modes, backward, content, forward)

    def _look_up(
        self,
        memory: Float[Tensor, "B N W"],
        keys: Float[Tensor, "B H W"],
        strengths: Float[Tensor, "B H"],
        masks: Float[Tensor, "B H masked"],
    ) -> Float[Tensor, "B H N"]:
        if self.masked_lookup:
            similarity = addressing.masked_cosine_similarity(memory, keys, masks)
        else:
            similarity = addressing.cosine_similarity(memory, keys)
        return addressing.content_weights(similarity, strengths)

    def extra_repr(self) -> str:
        """The sizes, and the options that are on."""
        options = ("links", "masked_lookup", "erase_freed", "sharp_links", "read_first")
        own = [] if self.own is None else [f"own={self.own}"]
        return ", ".join([super().extra_repr(), *(f"{name}=True" for name in options if getattr(self, name)), *own])
