"""In which order a network learns a hierarchy (thesis §2.2.2): broad distinctions first, each in a step of its own.

Gradient descent in a deep linear network beside the closed form: the strength of the modes of each level, and how far
apart it holds items that part at that level.
"""

import dataclasses
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from mnemon.errors import UserError
from mnemon.laws.base import Curve, Measured, Panel, shorten
from mnemon.laws.crossing import crossing
from mnemon.theory.semantic import (
    Course,
    Modes,
    balanced_weights,
    hidden_distances,
    hierarchy,
    item_distances,
    learn,
    learned_strengths,
    modes_of,
    random_weights,
)
from mnemon.training.seeding import batch_seed, generator_from

Start = Literal["random", "balanced"]
POINTS = 70  # along each curve


@dataclass(frozen=True, kw_only=True)
class SemanticStages:
    """A tree of so many ``levels``, learned from weights that begin ``random`` or as the closed form has them.

    ``size`` is the standard deviation that random weights would have with one hidden unit, and the square root of every
    a(0) of balanced ones.
    """

    start: Start = "random"
    levels: int = 3
    branching: int = 2
    hidden: int = 64
    size: float = 0.01
    time_constant: int = 200  # τ, in epochs
    times: float = 21.0  # how long, in τ

    def __post_init__(self) -> None:
        if self.start not in get_args(Start):
            raise UserError(f"start must be one of {', '.join(get_args(Start))}, got {self.start!r}")
        if self.levels < 1:
            raise UserError(f"levels must be at least 1, got {self.levels}")
        if self.time_constant < 5 or not self.times > 0:
            raise UserError("time_constant must be at least 5 epochs and times above 0")

    def measure(self, seed: int) -> Measured:
        """Train, and read off the modes."""
        lesson = hierarchy(self.levels, self.branching)
        generator = generator_from(batch_seed(seed, self.start, 0))
        weights = (
            random_weights(lesson, self.hidden, self.size, generator)
            if self.start == "random"
            else balanced_weights(lesson, self.size**2, self.hidden, generator)
        )
        epochs = round(self.times * self.time_constant)
        rate = 1 / (len(lesson.inputs) * self.time_constant)
        course = learn(lesson, weights, rate=rate, epochs=epochs, every=max(1, epochs // POINTS))
        modes = modes_of(lesson)
        formula = learned_strengths(course.epochs / self.time_constant, modes.strengths, course.starts)
        strengths = self._strengths(course, formula)
        metrics = {"largest_gap": (course.strengths - formula).abs().max().item()}
        for level, curve in enumerate(strengths.curves[1:], start=1):
            assert curve.formula is not None
            half = self._of_level(modes.strengths[None], level)[0].item() / 2
            metrics[f"level_{level}_learned"] = crossing(curve.x, curve.measured, half)
            metrics[f"level_{level}_predicted"] = crossing(curve.x, curve.formula, half)
        return Measured(panels=(strengths, self._distances(course, modes, formula)), metrics=metrics)

    def shortened(self, scale: float) -> "SemanticStages":
        """With larger steps."""
        return dataclasses.replace(self, time_constant=max(20, shorten(self.time_constant, scale)))

    def _strengths(self, course: Course, formula: Float[Tensor, "E A"]) -> Panel:
        """The mean over the modes of each level; the root's mode, what all items share, is level 0."""
        return Panel(
            name=f"Strength of modes, {self.start} start",
            x_label="t/τ",
            y_label="a(t)",
            curves=tuple(
                Curve(
                    name="all items share" if level == 0 else f"distinctions of level {level}",
                    x=self._times(course),
                    measured=tuple(self._of_level(course.strengths, level).tolist()),
                    formula=tuple(self._of_level(formula, level).tolist()),
                )
                for level in range(self.levels + 1)
            ),
        )

    def _distances(self, course: Course, modes: Modes, formula: Float[Tensor, "E A"]) -> Panel:
        """Between the first item and one that parts from it at each level."""
        lesson = hierarchy(self.levels, self.branching)
        held = torch.stack([hidden_distances(weights, lesson)[0] for weights in course.weights])
        said = torch.stack([item_distances(modes, strengths)[0] for strengths in formula])
        return Panel(
            name=f"Hidden distance of two items, {self.start} start",
            x_label="t/τ",
            y_label="‖h_i − h_j‖",
            curves=tuple(
                Curve(
                    name=f"part at level {level}",
                    x=self._times(course),
                    measured=tuple(held[:, self.branching ** (self.levels - level)].tolist()),
                    formula=tuple(said[:, self.branching ** (self.levels - level)].tolist()),
                )
                for level in range(1, self.levels + 1)
            ),
        )

    def _times(self, course: Course) -> tuple[float, ...]:
        return tuple((course.epochs / self.time_constant).tolist())

    def _of_level(self, strengths: Float[Tensor, "E A"], level: int) -> Float[Tensor, "E"]:
        first, last = (0, 1) if level == 0 else (self.branching ** (level - 1), self.branching**level)
        return strengths[:, first:last].mean(1)
