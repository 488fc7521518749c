"""What is left of an error on its way back through time (thesis §2.4.1), beside the bound (f'_max ‖U‖)^q.

The recurrent weights U are a rotation times the radius, where the bound is as near as it can be, or random ones, whose
norm is about twice their radius. An LSTM has no such bound; beside it stands its constant error carousel, the path from
cell to cell alone: every forget gate at its bias, σ(b)^q.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.spectra import orthogonal_matrix, random_matrix
from mnemon.theory.contribution import mean_profile
from mnemon.theory.gradients import error_flow, flow_bound, tanh_slope
from mnemon.training.seeding import batch_seed, generator_from

Network = Literal["rotation", "random", "lstm"]
DRAW: dict[str, Callable[[int, float, torch.Generator], Tensor]] = {
    "rotation": orthogonal_matrix,
    "random": random_matrix,
}
PANELS: dict[Network, str] = {
    "rotation": "tanh network, U a scaled rotation",
    "random": "tanh network, U random",
    "lstm": "LSTM, h and c",
}


@dataclass(frozen=True, kw_only=True)
class GradientFlow:
    """An untrained network under white inputs: tanh units of a ``radius``, or an LSTM with a ``forget_bias``."""

    network: Network = "rotation"
    radius: float = 0.9
    forget_bias: float = 0.0
    hidden: int = 64
    inputs: int = 8
    steps: int = 40
    sequences: int = 4

    def __post_init__(self) -> None:
        if self.network not in get_args(Network):
            raise UserError(f"network must be one of {', '.join(get_args(Network))}, got {self.network!r}")
        if min(self.hidden, self.inputs, self.sequences) < 1 or self.steps < 2:
            raise UserError("hidden, inputs and sequences must be at least 1, and steps at least 2")

    @property
    def name(self) -> str:
        """In the legend."""
        return f"forget bias {self.forget_bias:g}" if self.network == "lstm" else f"radius {self.radius:g}"

    def measure(self, seed: int) -> Measured:
        """The flow over each distance, as a root mean square over the sequences."""
        generator = generator_from(batch_seed(seed, self.network, 0))
        network = self._draw(generator)
        inputs = torch.randn(self.steps, self.sequences, self.inputs, generator=generator, dtype=torch.float64)
        flow = mean_profile(error_flow(network, inputs, batch_axis=1))
        formula = self._formula(network, inputs).tolist()
        panel = Panel(
            name=PANELS[self.network],
            x_label="distance q",
            y_label="‖∂h_T/∂h_{T−q}‖ / √S",
            curves=(
                Curve(
                    name=self.name,
                    x=tuple(map(float, range(self.steps))),
                    measured=tuple(value or math.nan for value in flow),  # 0 is nowhere on a logarithmic axis
                    formula=tuple(formula),
                ),
            ),
            y_scale="log",
        )
        metrics = {"factor_per_step": _per_step(flow), "formula_per_step": _per_step(formula)}
        return Measured(panels=(panel,), metrics=metrics)

    def shortened(self, scale: float) -> "GradientFlow":
        """With fewer sequences."""
        return dataclasses.replace(self, sequences=shorten(self.sequences, scale))

    def _draw(self, generator: torch.Generator) -> nn.RNNBase:
        """torch.nn's network, with weights from the generator: as torch.nn draws them but for U or the forget bias."""
        rnn: nn.RNNBase = (
            nn.LSTM(self.inputs, self.hidden) if self.network == "lstm" else nn.RNN(self.inputs, self.hidden)
        )
        bound = 1 / math.sqrt(self.hidden)
        weights = {
            name: (torch.rand(weight.shape, generator=generator, dtype=torch.float64) * 2 - 1) * bound
            for name, weight in rnn.state_dict().items()
        }
        if self.network == "lstm":
            weights["bias_ih_l0"][self.hidden : 2 * self.hidden] = self.forget_bias
            weights["bias_hh_l0"][self.hidden : 2 * self.hidden] = 0
        else:
            weights["weight_hh_l0"] = DRAW[self.network](self.hidden, self.radius, generator)
        rnn.double().load_state_dict(weights)
        return rnn

    def _formula(self, network: nn.RNNBase, inputs: Float[Tensor, "T B I"]) -> Float[Tensor, "T"]:
        if self.network == "lstm":
            forget = torch.sigmoid(torch.tensor(self.forget_bias, dtype=torch.float64))
            carousel = forget ** torch.arange(self.steps, dtype=torch.float64)
            return carousel / math.sqrt(2)  # c is half of the state
        with torch.no_grad():
            slope = tanh_slope(network(inputs)[0])
        return flow_bound(network.state_dict()["weight_hh_l0"], self.steps, slope)


def _per_step(flow: list[float]) -> float:
    """The factor that, taken at each step, leads from the second value to the last; the first step is like no other."""
    return (flow[-1] / flow[1]) ** (1 / (len(flow) - 2)) if len(flow) > 2 else flow[1]
