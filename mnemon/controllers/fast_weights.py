"""Fast-weight RNN: a recurrent network with a matrix of the recent past (thesis §2.4.3; Ba et al., 2016).

Letters: ``B`` batch, ``C`` input and what was read, ``H`` hidden.

Beside its learned weights W and C the network has fast ones, a correlation matrix memory of its own states, which
decays. They draw the next state towards those states of the recent past that are like it:

    A(t)         = λ A(t−1) + η h(t) h(t)ᵀ
    h_0(t+1)     = f(W h(t) + C x(t))
    h_{s+1}(t+1) = f(LN[W h(t) + C x(t) + A(t) h_s(t+1)])          s < S, and h(t+1) = h_S(t+1)

Deviations: layer normalisation (LN) is that of Ba et al.; the thesis leaves it out, and without it the products with A
vanish or explode. f is their rectifier; the thesis leaves it open.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, einsum, nn
from torch.nn import functional as F

from mnemon.controllers.base import Controller
from mnemon.errors import UserError
from mnemon.memory.base import check_sizes
from mnemon.programs import ProgramKeys


def associate(
    fast: Float[Tensor, "B H H"], hidden: Float[Tensor, "B H"], decay: float, rate: float
) -> Float[Tensor, "B H H"]:
    """A(t) = λ A(t−1) + η h hᵀ."""
    return decay * fast + rate * einsum("bi,bj->bij", hidden, hidden)


class FastWeightState(NamedTuple):
    """The state of a fast-weight RNN."""

    hidden: Float[Tensor, "B H"]  # h(t)
    fast: Float[Tensor, "B H H"]  # A(t)


class FastWeightController(Controller[FastWeightState]):
    """An Elman network that attends to its recent past.

    Args:
        input_size: I, the channels of x_t.
        hidden_size: H, the size of h_t.
        decay: λ, how slowly the past fades.
        rate: η, how much of a state is added.
        refinements: S, how often the fast weights act on a state before it is the next one.
        learned_state: learn the initial state, h(0) and A(0), rather than start from zero.
        programs: keys of programs to choose the matrices from; by default they are always the same.
        device: where the weights live.
        dtype: their floating point type.
    """

    state_type = FastWeightState

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        *,
        decay: float = 0.95,
        rate: float = 0.5,
        refinements: int = 1,
        learned_state: bool = False,
        programs: ProgramKeys | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        check_sizes(refinements=refinements)
        if not 0 <= decay < 1:
            raise UserError(f"decay must be in [0, 1), got {decay}")
        if not rate > 0:
            raise UserError(f"rate must be above 0, got {rate}")
        self.decay, self.rate, self.refinements = decay, rate, refinements
        super().__init__(
            input_size, hidden_size, learned_state=learned_state, programs=programs, device=device, dtype=dtype
        )

    @property
    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """A vector and a matrix."""
        return {"hidden": (self.hidden_size,), "fast": (self.hidden_size, self.hidden_size)}

    def _add_parameters(self, parameter: Callable[..., nn.Parameter]) -> None:
        self.norm_gain = parameter(self.hidden_size)
        self.norm_bias = parameter(self.hidden_size)

    def reset_parameters(self) -> None:
        """The matrices by the family's recipe; gain 1 and bias 0 of the normalisation."""
        super().reset_parameters()
        nn.init.ones_(self.norm_gain)
        nn.init.zeros_(self.norm_bias)

    def forward(self, inputs: Float[Tensor, "B C"], state: FastWeightState) -> FastWeightState:
        """One step."""
        from_input, from_hidden = self._products(inputs, state.hidden)
        sustained = from_input + from_hidden
        hidden = F.relu(sustained)  # h_0
        for _ in range(self.refinements):
            recalled = einsum("bij,bj->bi", state.fast, hidden)
            normal = F.layer_norm(sustained + recalled, (self.hidden_size,), self.norm_gain, self.norm_bias)
            hidden = F.relu(normal)
        return FastWeightState(hidden, associate(state.fast, hidden, self.decay, self.rate))

    def extra_repr(self) -> str:
        """As torch.nn prints a cell, with what is its own."""
        own = f"decay={self.decay}, rate={self.rate}, refinements={self.refinements}"
        return f"{super().extra_repr()}, {own}"
