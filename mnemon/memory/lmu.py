"""Legendre memory (beyond the thesis; Voelker, Kajić & Eliasmith, 2019): the last θ steps of signals, compressed.

Letters: ``B`` batch, ``N`` order, ``W`` signals, ``D`` delays.

Each signal u is kept as its first N Legendre coefficients over a sliding window. They follow a linear law whose
matrices are known, not learned:

    θ ṁ = A m + B u,      A_ij = (2i + 1) (−1 if i < j else (−1)^{i−j+1}),      B_i = (2i + 1)(−1)^i
    m_t = Ā m_{t−1} + B̄ u_t,      Ā = e^{A/θ},      B̄ = A⁻¹ (Ā − I) B

which is exact for a signal that is constant within a step. The signal δ steps ago is Σ_i P_i(2δ/θ − 1) m_i, with the
Legendre polynomials P_i. All N·W coefficients are read.

Deviations: u is what the interface makes of the controller's h_t, and the next step's controller sees m_t; in the
published unit u comes from x_t, h_{t−1} and m_{t−1}, and h_t sees m_t.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, einsum

from mnemon.initialisation import NTMRecipe
from mnemon.memory.base import Memory, check_sizes


class LegendreInterface(NamedTuple):
    """The parts of the interface vector."""

    signals: Float[Tensor, "B W"]  # u_t


class LegendreState(NamedTuple):
    """What is carried from step to step; all of it is read."""

    reads: Float[Tensor, "B N W"]  # m_t

    @property
    def memory(self) -> Float[Tensor, "*batch N W"]:
        """m_t."""
        return self.reads


class LegendreMemory(Memory[LegendreInterface, LegendreState]):
    """A sliding window over signals. Nothing about it is learned.

    Args:
        slots: N, the order: how many coefficients each signal has.
        word: W, the number of signals.
        window: θ, how many steps the memory reaches back.
        device: where the matrices live.
        dtype: their floating point type.
    """

    transition: Tensor
    entry: Tensor

    def __init__(
        self,
        slots: int,
        word: int,
        window: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        check_sizes(slots=slots, word=word, window=window)
        self.slots, self.word, self.reads, self.window = slots, word, slots, window
        self.recipe = NTMRecipe()
        dtype = torch.get_default_dtype() if dtype is None else dtype
        transition, entry = discretise(*delay_matrices(slots), window)
        self.register_buffer("transition", transition.to(device=device, dtype=dtype))  # Ā
        self.register_buffer("entry", entry.to(device=device, dtype=dtype))  # B̄

    @property
    def head_sizes(self) -> tuple[int, ...]:
        """The signals."""
        return (self.word,)

    def init_state(
        self, batch: int, *, device: torch.device | None = None, dtype: torch.dtype | None = None
    ) -> LegendreState:
        """Silence."""
        return LegendreState(torch.zeros(batch, self.slots, self.word, device=device, dtype=dtype))

    def parse(self, vector: Float[Tensor, "B interface"]) -> LegendreInterface:
        """All of it."""
        (signals,) = vector.split_with_sizes([self.word], dim=1)
        return LegendreInterface(signals)

    def forward(self, interface: LegendreInterface, state: LegendreState, write: bool = True) -> LegendreState:
        """One step; without writing time stands still."""
        if not write:
            return state
        moved = einsum("nm,bmw->bnw", self.transition, state.reads)
        return LegendreState(torch.addcmul(moved, self.entry.unsqueeze(1), interface.signals.unsqueeze(1)))

    def recall(self, state: LegendreState, delays: Float[Tensor, "D"]) -> Float[Tensor, "B D W"]:
        """The signals so many steps ago, as far as the coefficients tell."""
        weights = legendre(self.slots, 2 * delays / self.window - 1)
        return einsum("dn,bnw->bdw", weights, state.reads)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"order={self.slots}, signals={self.word}, window={self.window}"


def delay_matrices(order: int) -> tuple[Float[Tensor, "N N"], Float[Tensor, "N"]]:
    """A and B in double precision."""
    i = torch.arange(order, dtype=torch.float64)
    scale = 2 * i + 1
    signs = torch.where(i.unsqueeze(1) < i, -1.0, (-1.0) ** (i.unsqueeze(1) - i + 1))
    return scale.unsqueeze(1) * signs, scale * (-1.0) ** i


def discretise(
    law: Float[Tensor, "N N"], entry: Float[Tensor, "N"], window: int
) -> tuple[Float[Tensor, "N N"], Float[Tensor, "N"]]:
    """Ā and B̄ by one exponential, e^{[[A, B], [0, 0]]/θ} = [[Ā, B̄], [0, 1]], which needs no inverse."""
    order = len(entry)
    both = law.new_zeros(order + 1, order + 1)
    both[:order, :order], both[:order, order] = law, entry
    exponential = torch.linalg.matrix_exp(both / window)
    return exponential[:order, :order], exponential[:order, order]


def legendre(order: int, points: Float[Tensor, "D"]) -> Float[Tensor, "D N"]:
    """P_0 … P_{N−1} at points in [−1, 1], by (i + 1) P_{i+1} = (2i + 1) x P_i − i P_{i−1}."""
    values = [torch.ones_like(points), points]
    for i in range(1, order - 1):
        values.append(((2 * i + 1) * points * values[i] - i * values[i - 1]) / (i + 1))
    return torch.stack(values[:order], dim=1)
