"""Associative LSTM: an LSTM whose cell is a holographic memory (thesis §2.4.2; Danihelka et al., 2016).

Letters: ``B`` batch, ``C`` input and what was read, ``H`` hidden, ``K`` complex units H/2, ``S`` copies.

Numbers are complex, a real and an imaginary part of K units each, and are multiplied unit by unit (⊛). A step stores
the value u_t under a key and asks for what is stored under another:

    c_{s,t} = f_t c_{s,t−1} + (P_s x_t) ⊛ (i_t u_t)           one trace for each copy s, P_s a constant permutation
    h_t     = o_t bound(1/S Σ_s (P_s x'_t) ⊛ c_{s,t})         x' is the inverse of the key that is asked for

Keys, inverse keys and values come from [x_t, r_{t−1}] and h_{t−1}; bound(z) = z / max(1, |z|) keeps them within the
unit circle. What is stored under other keys is noise in the answer. Permuted keys make it differ from copy to copy, so
that its variance falls with their number, as Q/S for Q items.

Deviations: the gates of the real and the imaginary part of a unit are one, as published; the thesis leaves that open.
The inverse keys are learned freely, and need not be conjugates of any key.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mnemon.controllers.base import Controller
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.programs import ProgramKeys


def multiply(left: Float[Tensor, "*#batch 2 K"], right: Float[Tensor, "*#batch 2 K"]) -> Float[Tensor, "*batch 2 K"]:
    """x ⊛ y: moduli multiply, phases add."""
    (a, b), (c, d) = left.unbind(-2), right.unbind(-2)
    return torch.stack([a * c - b * d, a * d + b * c], dim=-2)


def bound(numbers: Float[Tensor, "*batch 2 K"]) -> Float[Tensor, "*batch 2 K"]:
    """z / max(1, |z|), with a gradient at 0."""
    return numbers / numbers.square().sum(-2, keepdim=True).clamp_min(1).sqrt()


def permute(numbers: Float[Tensor, "B 2 K"], permutations: Int[Tensor, "S K"]) -> Float[Tensor, "B S 2 K"]:
    """P_s x for each copy."""
    return numbers[:, :, permutations].transpose(1, 2)


class AssociativeLSTMState(NamedTuple):
    """The state of an Associative LSTM."""

    hidden: Float[Tensor, "B H"]  # h_t, the real parts first
    traces: Float[Tensor, "B S 2 K"]  # c_{s,t}


class AssociativeLSTMController(Controller[AssociativeLSTMState]):
    """Gates f, i, o of K units, then the key, the inverse key and the value, of H numbers each.

    Args:
        input_size: I, the channels of x_t.
        hidden_size: H, the size of h_t; even.
        copies: S.
        learned_state: learn the initial state rather than start from zero.
        programs: keys of programs to choose the matrices from; by default they are always the same.
        device: where the weights live.
        dtype: their floating point type.
    """

    state_type = AssociativeLSTMState
    permutations: Int[Tensor, "S K"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        copies: int = 4,
        learned_state: bool = False,
        programs: ProgramKeys | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_sizes(copies=copies)
        if hidden_size % 2:
            raise UserError(
                f"hidden_size of an associative LSTM must be even, got {hidden_size}: half of it are imaginary parts"
            )
        self.copies, self.units = copies, hidden_size // 2
        super().__init__(
            input_size, hidden_size, learned_state=learned_state, programs=programs, device=device, dtype=dtype
        )

    @property
    def rows(self) -> int:
        """Three gates of K, and three complex vectors of 2 K."""
        return 9 * self.units

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """A vector, and a trace for each copy."""
        return {"hidden": (self.hidden_size,), "traces": (self.copies, 2, self.units)}

    def _add_parameters(self, parameter: Callable[..., nn.Parameter]) -> None:
        device = parameter(0).device
        self.register_buffer("permutations", torch.zeros(self.copies, self.units, dtype=torch.int64, device=device))

    def reset_parameters(self) -> None:
        """The matrices by the family's recipe; the permutations are drawn anew."""
        super().reset_parameters()
        self.permutations.copy_(torch.stack([torch.randperm(self.units) for _ in range(self.copies)]))

    def forward(self, inputs: Float[Tensor, "B C"], state: AssociativeLSTMState) -> AssociativeLSTMState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        parts = (from_input + from_hidden).view(-1, 9, self.units)
        forget, enter, leave = torch.sigmoid(parts[:, :3]).unsqueeze(2).unbind(1)  # each B 1 K
        key, inverse_key, value = (bound(parts[:, first : first + 2]) for first in (3, 5, 7))
        stored = multiply(permute(key, self.permutations), (enter * value).unsqueeze(1))
        traces = forget.unsqueeze(1) * state.traces + stored
        retrieved = multiply(permute(inverse_key, self.permutations), traces).mean(1)
        return AssociativeLSTMState((leave * bound(retrieved)).flatten(1), traces)

    def extra_repr(self) -> str:
        """As torch.nn prints a cell, with the copies."""
        return f"{super().extra_repr()}, copies={self.copies}"
