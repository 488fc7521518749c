"""Self-attentive associative memory, the two-memory model STM (beyond the thesis; Le, Tran & Venkatesh, 2020).

Letters: ``B`` batch, ``R`` reads, ``N`` relations, ``W`` word, ``P`` items, ``V`` value.

An item memory M keeps what was seen as one matrix of outer products. A relational memory 𝓡 keeps N matrices, how items
relate, which attention makes out of the items: an outer product where ordinary attention has a dot product,

    SAM(M)_s = Σ_j tanh(q_s ∘ k_j) ⊗ v_j,      q, k, v = LN(W_q M), LN(W_k M), LN(W_v M), N rows each.

With f1, f2 from the interface, and f3 a distribution over relations:

    M   = F_t ∘ M_{t−1} + I_t ∘ tanh(f1 ⊗ f2)            F, I = σ(gates from the interface + U tanh(M_{t−1}))
    v   = Σ_s f3_s f2ᵀ 𝓡_{t−1,s}                           what the relations recall
    𝓡_t = α1 𝓡_{t−1} + SAM(M + α2 v ⊗ f2)
    M_t = M + α3 G1(𝓡_t),      r_t = G3(G2(𝓡_t))          linear maps: of all relations; of each relation, then of all

The α are learned and begin at 0, as in the released program: relations are then those of the items alone.

Deviations: the α go through tanh, so that |α1| < 1 keeps the relations bounded however long a sequence is. The paper
adds α1 SAM(·) to all of 𝓡_{t−1}; its released program multiplies 𝓡_{t−1}, as here, and writes f1 ⊗ f1. Both memories
begin at zero rather than at learned matrices. One gain and bias serve q, k and v; LN has
ε = 0.01, not 1e-5, under which the few small items of a sequence's beginning make gradients explode: what is read goes
back to the controller here, which the published model does not do.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, einsum, nn
from torch.nn import functional as F

from mnemon.initialisation import NTMRecipe
from mnemon.memory.base import Memory, check_sizes

FORGET_LIFT = 1.0  # added to the forget gates, as published
NORM_EPSILON = 1e-2  # added to the variance in LN


class SelfAttentiveInterface(NamedTuple):
    """The parts of the interface vector."""

    item: Float[Tensor, "B W"]  # f1
    key: Float[Tensor, "B W"]  # f2
    relations: Float[Tensor, "B N"]  # f3, a distribution
    gates: Float[Tensor, "B gates"]  # of I and F, before U tanh(M) is added


class SelfAttentiveState(NamedTuple):
    """What is carried from step to step."""

    memory: Float[Tensor, "B W W"]  # M_t
    relations: Float[Tensor, "B N W W"]  # 𝓡_t
    reads: Float[Tensor, "B R W"]  # r_t


class SelfAttentiveMemory(Memory[SelfAttentiveInterface, SelfAttentiveState]):
    """Items and their relations. Unlike most memories it has weights, those of the attention and of the read.

    Args:
        slots: N, the number of relations.
        word: W, the size of an item.
        reads: R, how many words are read.
    """

    def __init__(self, slots: int, word: int, reads: int = 1) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, reads=reads)
        self.slots, self.word, self.reads = slots, word, reads
        self.recipe = NTMRecipe()
        self.attention = nn.Parameter(torch.empty(3 * slots, word))  # W_q, W_k, W_v
        self.norm_gain = nn.Parameter(torch.empty(word))
        self.norm_bias = nn.Parameter(torch.empty(word))
        self.gate_weight = nn.Parameter(torch.empty(2 * word, word))  # U
        self.shares = nn.Parameter(torch.empty(3))  # α1, α2, α3 are their tanh
        self.transfer = nn.Parameter(torch.empty(word, slots, word))  # G1
        self.compress = nn.Parameter(torch.empty(word, word, word))  # G2
        self.output = nn.Parameter(torch.empty(reads * word, slots, word))  # G3
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """U(±1/√inputs) for each map, gains 1, biases 0, and nothing fed back."""
        maps = {
            self.attention: self.word,
            self.gate_weight: self.word,
            self.transfer: self.slots * self.word,
            self.compress: self.word**2,
            self.output: self.slots * self.word,
        }
        for weight, inputs in maps.items():
            nn.init.uniform_(weight, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))
        nn.init.ones_(self.norm_gain)
        nn.init.zeros_(self.norm_bias)
        nn.init.zeros_(self.shares)

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """One head: f1, f2, f3 and two gates."""
        return (4 * self.word + self.slots,)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> SelfAttentiveState:
        """Zeros."""
        memory = torch.zeros(batch, self.word, self.word, device=device, dtype=dtype)
        return SelfAttentiveState(
            memory=memory,
            relations=memory.new_zeros(batch, self.slots, self.word, self.word),
            reads=memory.new_zeros(batch, self.reads, self.word),
        )

    def parse(self, vector: Float[Tensor, "B interface"]) -> SelfAttentiveInterface:
        """[f1, f2, f3, gates]."""
        item, key, relations, gates = vector.split_with_sizes([self.word, self.word, self.slots, 2 * self.word], dim=1)
        return SelfAttentiveInterface(item, key, torch.softmax(relations, dim=1), gates)

    def forward(
        self, interface: SelfAttentiveInterface, state: SelfAttentiveState, write: bool = True
    ) -> SelfAttentiveState:
        """Write the item, relate, then read all relations. Without writing they are related anew, but not kept."""
        decay, recalled_share, transferred_share = torch.tanh(self.shares).unbind()  # α1, α2, α3
        items = self._with_item(interface, state.memory) if write else state.memory
        recalled = einsum("bn,bk,bnkv->bv", interface.relations, interface.key, state.relations)  # v
        shown = items + recalled_share * recalled.unsqueeze(2) * interface.key.unsqueeze(1)
        relations = decay * state.relations + self._relate(shown)
        compressed = einsum("bnkv,wkv->bnw", relations, self.compress)
        reads = einsum("bnw,onw->bo", compressed, self.output).view(-1, self.reads, self.word)
        if not write:
            return state._replace(reads=reads)
        memory = items + transferred_share * einsum("bnkv,wnk->bwv", relations, self.transfer)
        return SelfAttentiveState(memory, relations, reads)

    def _with_item(self, interface: SelfAttentiveInterface, memory: Float[Tensor, "B W W"]) -> Float[Tensor, "B W W"]:
        """F ∘ M + I ∘ tanh(f1 ⊗ f2)."""
        gates = interface.gates.unsqueeze(1) + torch.tanh(memory) @ self.gate_weight.T
        enter, forget = gates.chunk(2, dim=2)
        item = torch.tanh(interface.item.unsqueeze(2) * interface.key.unsqueeze(1))
        return torch.sigmoid(forget + FORGET_LIFT) * memory + torch.sigmoid(enter) * item

    def _relate(self, items: Float[Tensor, "B W W"]) -> Float[Tensor, "B N W W"]:
        """SAM(M)."""
        rows = einsum("pi,biw->bpw", self.attention, items)
        normal = F.layer_norm(rows, (self.word,), self.norm_gain, self.norm_bias, NORM_EPSILON)
        return outer_product_attention(*normal.chunk(3, dim=1))


def outer_product_attention(
    queries: Float[Tensor, "B N W"], keys: Float[Tensor, "B P W"], values: Float[Tensor, "B P V"]
) -> Float[Tensor, "B N W V"]:
    """Σ_j tanh(q_s ∘ k_j) ⊗ v_j: what all items have in common with each query, beside their values."""
    return einsum("bnpw,bpv->bnwv", torch.tanh(queries.unsqueeze(2) * keys.unsqueeze(1)), values)
