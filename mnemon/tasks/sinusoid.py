"""Sinusoid continuation, clean and noisy (thesis §6.5.4): given points of a sinusoid, say those that follow.

y = 5 + A sin(2πfx + φ) at x_t = (t + ε₁) / 1000, with A from U(1, 5), f from U(10, 30), φ from U(0, 100) and
ε₁ from U(-1, 1). The thesis leaves open whether ε₁ is one number for a sequence, which φ would already cover, or one
for each point: here it is one for each point, asked ones too. The points shown carry a noise from U(-noise, noise),
those asked none. There is no end-of-sequence step: the thesis's figures show 100 steps of input and 100 of output.

Letters: ``T`` points shown, ``B`` batch, ``S`` steps (2T), ``O`` output channels (one).
"""

from dataclasses import dataclass
from math import pi

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.tasks.base import Batch
from mnemon.tasks.rendering import render_numbers
from mnemon.tasks.sampling import draw_uniform, prompt_then_answer
from mnemon.tasks.scoring import number_loss
from mnemon.tasks.settings import check_at_least

OFFSET = 5.0
POINTS_PER_UNIT = 1000  # of x
CHANNELS = ("y",)


@dataclass(frozen=True, kw_only=True)
class Sinusoid:
    """Show ``length`` points, then ask for as many more, with zero input; ``noise`` is 2 in the thesis, or 0.

    With three points::

        step    0    1    2    3    4    5
        input   y_1  y_2  y_3  0    0    0
        target                 y_4  y_5  y_6
    """

    length: int = 100
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_at_least("Sinusoid", 1, length=self.length)
        if not 0 <= self.noise < float("inf"):
            raise UserError(f"Sinusoid(noise={self.noise}): write noise=0.0 or more")

    @property
    def input_size(self) -> int:
        """The point shown."""
        return len(CHANNELS)

    @property
    def output_size(self) -> int:
        """The point asked for."""
        return len(CHANNELS)

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Draw a sinusoid for each row, where on it the points lie, and their noise."""
        amplitude, frequency, phase = draw_uniform(3, batch_size, generator=generator)
        curve = (1 + 4 * amplitude, 10 + 20 * frequency, 100 * phase)
        jitter = 2 * draw_uniform(2 * self.length, batch_size, generator=generator) - 1
        noise = self.noise * (2 * draw_uniform(self.length, batch_size, generator=generator) - 1)
        steps = torch.arange(1, 2 * self.length + 1, device=jitter.device).unsqueeze(1)
        points = sinusoid(*curve, (steps + jitter) / POINTS_PER_UNIT)
        shown, asked = points[: self.length], points[self.length :]
        return prompt_then_answer((shown + noise).unsqueeze(-1), asked.unsqueeze(-1))

    def loss(self, output: Float[Tensor, "S B O"], batch: Batch) -> Float[Tensor, ""]:
        """The mean squared error of the asked points."""
        return number_loss(output, batch)

    def metrics(self, output: Float[Tensor, "S B O"], batch: Batch) -> dict[str, float]:
        """``mse``, the mean squared error of the asked points."""
        return {"mse": float(number_loss(output, batch))}

    def render(self, batch: Batch, row: int = 0, output: Float[Tensor, "S B O"] | None = None) -> str:
        """One row of the batch as text, with its error."""
        return render_numbers(batch, row, output, channels=CHANNELS)


def sinusoid(
    amplitude: Float[Tensor, "B"],
    frequency: Float[Tensor, "B"],
    phase: Float[Tensor, "B"],
    x: Float[Tensor, "S B"],
) -> Float[Tensor, "S B"]:
    """5 + A sin(2πfx + φ)."""
    return OFFSET + amplitude * (2 * pi * frequency * x + phase).sin()
