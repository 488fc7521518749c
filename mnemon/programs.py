"""Stored programs: weights that are looked up anew at every step (Neural Stored-Program Memory, thesis §7.3).

Letters: ``B`` batch, ``S`` stores, ``P`` programs, ``K`` key, ``Q`` numbers that ask, ``I`` input, ``O`` output,
``H`` hidden, ``X`` interface.

A program is the weight matrix and the bias of a linear map. A store keeps P of them, each under a key. A small network
turns what is going on into a query [k, β]; the program that runs is Σ_i w_i M_p(i).v, where w = softmax_i(β D(k,
M_p(i).k)) and D is the cosine (eqs. d_p, pt). A linear map being linear in its weights, Σ_i w_i (W_i x + b_i) is the
same as (Σ_i w_i W_i) x + Σ_i w_i b_i, and spares a weight matrix for every sample.

The keys and the query are here (:class:`ProgramKeys`); the programs lie with the layer that runs them: the interface of
a memory (:class:`StoredProgramInterface`, which makes NUTM of NTM), any linear layer (:class:`StoredProgramLinear`), or
the state network (the ``programs`` of a controller).

Deviations: l_p is the mean over the pairs of a store (printed: their sum); a look-up that draws a single program takes
the likeliest one in evaluation mode. The author's code takes the cosine of tanh(k) and tanh(M_p.k) (``similarity``),
and draws from probabilities as if they were logarithms, at temperature 10.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from mnemon.errors import UserError
from mnemon.initialisation import DNCRecipe, Recipe
from mnemon.interface import Interface, Steering, rows_of_heads
from mnemon.memory.addressing import norm
from mnemon.memory.base import check_sizes

Similarity = Literal["cosine", "tanh-cosine"]
Choice = Literal["softmax", "gumbel"]
Penalty = Literal["similar-keys", "orthogonal-keys"]


def cosine(first: Float[Tensor, "*#batch K"], second: Float[Tensor, "*#batch K"]) -> Float[Tensor, "*_"]:
    """D: 0 where either is zero, with a bounded gradient."""
    return (first * second).sum(-1) / (norm(first) * norm(second))


def program_logits(
    queries: Float[Tensor, "B S K"], strengths: Float[Tensor, "B S"], keys: Float[Tensor, "S P K"]
) -> Float[Tensor, "B S P"]:
    """β D(k, M_p(i).k)."""
    # elementwise rather than a product of matrices, which autocast would take to half precision
    return strengths.unsqueeze(2) * cosine(queries.unsqueeze(2), keys)


def gumbel_noise(like: Tensor) -> Tensor:
    """−log of exponential noise, of the shape and type of ``like``."""
    return -torch.empty_like(like).exponential_().clamp_min(torch.finfo(like.dtype).tiny).log()


def draw_one(logits: Float[Tensor, "B S P"], temperature: float, noisy: bool) -> Float[Tensor, "B S P"]:
    """One program, by straight-through Gumbel-softmax on log-probabilities: one-hot, with the gradient of the softmax.

    Without noise it is the likeliest program.
    """
    scores = torch.log_softmax(logits, dim=2)
    if noisy:
        scores = scores + gumbel_noise(scores)
    soft = torch.softmax(scores / temperature, dim=2)
    hard = torch.zeros_like(soft).scatter(2, soft.argmax(2, keepdim=True), 1.0)
    return hard + (soft - soft.detach())  # the bracket is exactly zero


def mix_outputs(
    outputs: Float[Tensor, "B P X"], weights: Float[Tensor, "B S P"], owners: Int[Tensor, "X"]
) -> Float[Tensor, "B X"]:
    """What the chosen programs put out, from what each would; ``owners`` has the store of every number."""
    return (weights.index_select(1, owners).transpose(1, 2) * outputs).sum(1)


def key_similarity(keys: Float[Tensor, "S P K"]) -> Float[Tensor, ""]:
    """l_p: the mean cosine of two keys of a store, summed over the stores; 0 for one program."""
    first, second = torch.triu_indices(keys.shape[1], keys.shape[1], offset=1, device=keys.device)
    return cosine(keys[:, first], keys[:, second]).sum() / max(1, len(first))


def key_obliqueness(keys: Float[Tensor, "S P K"]) -> Float[Tensor, ""]:
    """l_p2 = ‖M_p.K M_p.Kᵀ − I‖, summed over the stores: zero for orthonormal keys."""
    identity = torch.eye(keys.shape[1], dtype=keys.dtype, device=keys.device)
    distances: Tensor = torch.linalg.matrix_norm(keys @ keys.transpose(1, 2) - identity)
    return distances.sum()


PENALTIES: dict[Penalty, Callable[[Tensor], Tensor]] = {
    "similar-keys": key_similarity,
    "orthogonal-keys": key_obliqueness,
}


@dataclass(frozen=True, kw_only=True)
class LookUp:
    """How programs are found.

    ``similarity``: of query and key as they are, or of their tanh. ``choice``: a mixture of all programs, or one drawn
    by Gumbel-softmax at ``temperature``. ``penalty``: what keeps the keys apart, l_p or l_p2.
    """

    similarity: Similarity = "cosine"
    choice: Choice = "softmax"
    temperature: float = 1.0
    penalty: Penalty = "similar-keys"

    def __post_init__(self) -> None:
        for name, kind in (("similarity", Similarity), ("choice", Choice), ("penalty", Penalty)):
            if getattr(self, name) not in get_args(kind):
                raise UserError(f"{name} must be one of {', '.join(get_args(kind))}, got {getattr(self, name)!r}")
        if not self.temperature > 0:
            raise UserError(f"temperature must be above 0, got {self.temperature}")


class ProgramKeys(nn.Module):
    """The keys of one or more stores, and the network that asks for a program of each.

    Args:
        programs: P, the programs of a store.
        key_size: K; the thesis has as many numbers in a key as programs in a store.
        look_up: how they are found.
        bias: whether the network that asks has one.
    """

    owners: Tensor

    def __init__(self, programs: int, key_size: int, look_up: LookUp | None = None, *, bias: bool = True) -> None:
        super().__init__()
        check_sizes(programs=programs, key_size=key_size)
        self.programs, self.key_size = programs, key_size
        self.look_up = LookUp() if look_up is None else look_up
        if self.look_up.penalty == "orthogonal-keys" and key_size < programs:
            raise UserError(f"{programs} keys of size {key_size} cannot be orthogonal: write key_size={programs}")
        self.vectors = nn.Parameter(torch.empty(0, programs, key_size))
        self.query_weight = nn.Parameter(torch.empty(0, key_size + 1, 0))  # [k, β] of each store
        self.query_bias = nn.Parameter(torch.empty(0, key_size + 1)) if bias else None
        self.register_buffer("owners", torch.empty(0, dtype=torch.int64), persistent=False)

    def connect(self, query_size: int, sizes: Sequence[int], like: Tensor) -> None:
        """Make a store for each of ``sizes``, the numbers that its programs put out; they are yet to be filled."""
        stores = len(sizes)
        self.vectors = nn.Parameter(like.new_empty(stores, self.programs, self.key_size))
        self.query_weight = nn.Parameter(like.new_empty(stores, self.key_size + 1, query_size))
        if self.query_bias is not None:
            self.query_bias = nn.Parameter(like.new_empty(stores, self.key_size + 1))
        self.owners = torch.arange(stores).repeat_interleave(torch.tensor(sizes, dtype=torch.int64)).to(like.device)

    def reset_parameters(self, layer: Callable[[Tensor, Tensor | None], None]) -> None:
        """Orthogonal keys; ``layer`` fills the weight and bias of what makes k, and of what makes β."""
        for store, (keys, weight) in enumerate(zip(self.vectors.detach(), self.query_weight.detach(), strict=True)):
            nn.init.orthogonal_(keys)
            for part in (slice(-1), slice(-1, None)):
                layer(weight[part], None if self.query_bias is None else self.query_bias.detach()[store, part])

    def forward(self, source: Float[Tensor, "B Q"]) -> Float[Tensor, "B S P"]:
        """How much of each program to run; the numbers of a store sum to one."""
        bias = None if self.query_bias is None else self.query_bias.flatten()
        vector = F.linear(source, self.query_weight.flatten(0, 1), bias).to(self.vectors.dtype)
        asked = vector.view(source.shape[0], *self.query_weight.shape[:2])
        queries, strengths = asked[..., :-1], F.softplus(asked[..., -1])  # k, β
        logits = program_logits(self.compared(queries), strengths, self.compared(self.vectors))
        if self.look_up.choice == "gumbel":
            return draw_one(logits, self.look_up.temperature, noisy=self.training)
        return torch.softmax(logits, dim=2)

    def mix(self, outputs: Float[Tensor, "B all"], weights: Float[Tensor, "B S P"]) -> Float[Tensor, "B X"]:
        """One output from those of all programs, which lie one after the other."""
        return mix_outputs(outputs.view(outputs.shape[0], self.programs, len(self.owners)), weights, self.owners)

    def losses(self) -> dict[str, Tensor]:
        """The penalty on the keys, by its name."""
        penalty = self.look_up.penalty
        return {penalty: PENALTIES[penalty](self.vectors)}

    def compared(self, keys: Tensor) -> Tensor:
        """What the cosine is taken of."""
        return torch.tanh(keys) if self.look_up.similarity == "tanh-cosine" else keys

    def extra_repr(self) -> str:
        """The sizes, and how programs are found."""
        return f"programs={self.programs}, key_size={self.key_size}, look_up={self.look_up}"


class StoredProgramInterface(Interface):
    """ξ_t = W^c_t h_t + b_t, where each head looks up its part of W^c_t and b_t from a store of its own.

    A DNC's read heads count as one, as do those of any memory that initialises them together.

    Args:
        programs: P; with one it is a linear interface.
        key_size: K.
        bias: whether programs store a bias.
        query_bias: whether the query has one.
        look_up: how programs are found.
    """

    def __init__(
        self, programs: int, key_size: int, *, bias: bool = True, query_bias: bool = True, look_up: LookUp | None = None
    ) -> None:
        super().__init__()
        self.keys = ProgramKeys(programs, key_size, look_up, bias=query_bias)
        self.biased = bias
        self.head_sizes: tuple[int, ...] = ()
        self.recipe: Recipe = DNCRecipe()
        self.weight = nn.Parameter(torch.empty(programs, 0, 0))
        self.bias = nn.Parameter(torch.empty(programs, 0)) if bias else None

    def connect(self, hidden_size: int, head_sizes: Sequence[int], recipe: Recipe, like: Tensor) -> None:
        """Make P programs for each head, side by side in weights of P X H and biases of P X."""
        self.head_sizes, self.recipe = tuple(head_sizes), recipe
        programs, size = self.keys.programs, sum(head_sizes)
        self.keys.connect(hidden_size, head_sizes, like)
        self.weight = nn.Parameter(like.new_empty(programs, size, hidden_size))
        if self.biased:
            self.bias = nn.Parameter(like.new_empty(programs, size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Programs by the recipe of the memory's family, queries as its heads; orthogonal keys."""
        for rows in rows_of_heads(self.head_sizes):
            bias = None if self.bias is None else self.bias.detach()[:, rows]
            self.recipe.programs(self.weight.detach()[:, rows], bias)
        self.keys.reset_parameters(self.recipe.head)

    def forward(self, hidden: Float[Tensor, "B H"]) -> Float[Tensor, "B X"]:
        """ξ_t."""
        return self.steer(hidden).vector

    def steer(self, hidden: Float[Tensor, "B H"]) -> Steering:
        """ξ_t, and the programs that made it."""
        chosen = self.keys(hidden)
        bias = None if self.bias is None else self.bias.flatten()
        outputs = F.linear(hidden, self.weight.flatten(0, 1), bias).to(self.weight.dtype)
        return Steering(self.keys.mix(outputs, chosen), chosen)

    def draw_noise(self, steps: int, batch: int) -> Float[Tensor, "T B S P"] | None:
        """Noise as so many steps in training draw it, in their order; None where programs are not drawn."""
        if self.keys.look_up.choice != "gumbel" or not self.training:
            return None
        logits = self.keys.vectors.new_empty(batch, *self.keys.vectors.shape[:2])
        noise = [gumbel_noise(logits) for _ in range(steps)]
        return torch.stack(noise) if noise else logits.new_empty(0, *logits.shape)

    def losses(self) -> dict[str, Tensor]:
        """What keeps the keys apart."""
        return self.keys.losses()


class StoredProgramLinear(nn.Module):
    """A linear layer that looks up its weights by its input: put it in place of any nn.Linear.

    Add ``η · sum(layer.losses().values())`` to the loss to keep the keys apart.

    Args:
        in_features: I.
        out_features: O.
        programs: P; with one it is nn.Linear.
        key_size: K.
        bias: whether programs store a bias.
        look_up: how programs are found.
        device: where the weights live.
        dtype: their floating point type.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        programs: int,
        key_size: int,
        *,
        bias: bool = True,
        look_up: LookUp | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_sizes(in_features=in_features, out_features=out_features)
        self.keys = ProgramKeys(programs, key_size, look_up)
        self.weight = nn.Parameter(torch.empty(programs, out_features, in_features, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(programs, out_features, device=device, dtype=dtype)) if bias else None
        self.keys.connect(in_features, [out_features], self.weight)
        self.reset_parameters()

    @classmethod
    def from_linear(
        cls, linear: nn.Linear, programs: int, key_size: int, *, look_up: LookUp | None = None
    ) -> "StoredProgramLinear":
        """For a trained layer: every program begins as a copy of it, so that nothing changes until they part."""
        biased, weight = linear.bias is not None, linear.weight
        sizes = linear.in_features, linear.out_features
        layer = cls(*sizes, programs, key_size, bias=biased, look_up=look_up, device=weight.device, dtype=weight.dtype)
        with torch.no_grad():
            layer.weight.copy_(weight)
            if layer.bias is not None:
                layer.bias.copy_(linear.bias)
        return layer

    def reset_parameters(self) -> None:
        """Each program as nn.Linear, and so the query; orthogonal keys."""
        for program, weight in enumerate(self.weight.detach()):
            _reset_linear(weight, None if self.bias is None else self.bias.detach()[program])
        self.keys.reset_parameters(_reset_linear)

    def forward(self, inputs: Float[Tensor, "*batch I"]) -> Float[Tensor, "*batch O"]:
        """The output of the program that the input asks for."""
        rows = inputs.reshape(-1, inputs.shape[-1])
        bias = None if self.bias is None else self.bias.flatten()
        outputs = F.linear(rows, self.weight.flatten(0, 1), bias)
        mixed: Tensor = self.keys.mix(outputs, self.keys(rows))
        return mixed.reshape(*inputs.shape[:-1], -1)

    def losses(self) -> dict[str, Tensor]:
        """What keeps the keys apart."""
        return self.keys.losses()

    def extra_repr(self) -> str:
        """The sizes, as nn.Linear prints them."""
        _, outputs, inputs = self.weight.shape
        return f"in_features={inputs}, out_features={outputs}, bias={self.bias is not None}"


def _reset_linear(weight: Tensor, bias: Tensor | None) -> None:
    """U(±1/√inputs), as nn.Linear."""
    bound = 1 / math.sqrt(weight.shape[1])
    for part in (weight, bias):
        if part is not None:
            nn.init.uniform_(part, -bound, bound)
