"""What a training run is told: how long, how fast, and what to write down."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from mnemon.errors import UserError

OPTIMISERS = ("rmsprop", "adam")
RAMPS = ("auxiliary_warmup", "auxiliary_cycle", "auxiliary_epoch")

# Above this a seed no longer fits every generator that it has to start.
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a run; the defaults are those of the NTM family (RMSProp, value clip 10)."""

    steps: int = 10_000
    batch_size: int = 16
    seed: int = 0
    optimiser: str = "rmsprop"
    learning_rate: float = 1e-4
    anneal: float = 0.0  # the last share of the steps, over which the learning rate falls to zero
    rmsprop_alpha: float = 0.95
    rmsprop_momentum: float = 0.9
    clip_value: float | None = 10.0  # each element of each gradient; None: leave it
    clip_each: float | None = None  # the gradient of each parameter as a vector, after clip_value; None: leave it
    clip_norm: float | None = None  # all gradients as one vector, after the others; None: leave it
    log_every: int = 100
    eval_every: int = 1_000
    eval_sequences: int = 1_000  # a finite set is gone through whole
    patience: int | None = None  # evaluations in a row without a lower loss on the first test that end the run
    checkpoint_every: int = 1_000
    keep: int = 2  # checkpoints left in the folder
    tensorboard: bool = False
    auxiliary: float | None = None  # η, the weight of the model's own losses at the first step; None: it has none
    auxiliary_decay: float | None = None  # what η is multiplied with from step to step; None: it stays
    auxiliary_warmup: int | None = None  # steps over which η rises from zero, in a line; None: it begins whole
    auxiliary_cycle: int | None = None  # steps over whose first half η rises from zero, again and again; None: once
    auxiliary_epoch: int | None = None  # steps after which η rises by another hundredth; None: at once
    samples: int | None = None  # answers to each row of a batch, whose losses are averaged; None: 1
    teacher: float | None = None  # how often a decoder is fed the right token at the first step; None: never
    teacher_decay: float | None = None  # what that is multiplied with from step to step; None: it stays

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "log_every", "eval_every", "eval_sequences", "checkpoint_every", "keep"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "a whole number of at least 1")
        for name in ("patience", *RAMPS, "samples"):
            value = getattr(self, name)
            _require(value is None or value >= 1, name, value, "a whole number of at least 1, or None")
        ramps = [name for name in RAMPS if getattr(self, name) is not None]
        if len(ramps) > 1:
            raise UserError(f"training settings {' and '.join(ramps)} exclude each other: write one of them")
        if ramps and self.auxiliary is None:
            raise UserError(f"training setting {ramps[0]!r} needs a weight to rise to: write auxiliary=1.0 as well")
        _require(0 <= self.seed <= LARGEST_SEED, "seed", self.seed, f"a whole number from 0 to {LARGEST_SEED}")
        _require(self.optimiser in OPTIMISERS, "optimiser", self.optimiser, " or ".join(map(repr, OPTIMISERS)))
        _require(_positive(self.learning_rate), "learning_rate", self.learning_rate, "a number above 0, such as 1e-4")
        for name in ("anneal", "rmsprop_alpha", "rmsprop_momentum"):
            _require(0 <= getattr(self, name) < 1, name, getattr(self, name), "a number from 0 to below 1")
        for name in ("clip_value", "clip_each", "clip_norm"):
            value = getattr(self, name)
            _require(value is None or _positive(value), name, value, "a number above 0, or None for no clipping")

        _require(
            self.auxiliary is None or _positive(self.auxiliary),
            "auxiliary",
            self.auxiliary,
            "a number above 0, such as 0.1, or None for a model without losses of its own",
        )
        for name in ("auxiliary_decay", "teacher", "teacher_decay"):
            value = getattr(self, name)
            _require(value is None or 0 <= value <= 1, name, value, "a number from 0 to 1, or None")

    def auxiliary_weight(self, step: int) -> float:
        """η_t = η · decay^{t−1}, as far as it has risen: the weight of the model's own losses at a step, from 1 on.

        It rises to η in a line over the warm-up, in the first half of every cycle, or in a hundred stairs, as the
        weight of the divergence does in the author's program of chapter 5: min(epoch/100, 1).
        """
        return self._risen(step) * _decayed(self.auxiliary, self.auxiliary_decay, step)

    def _risen(self, step: int) -> float:
        if self.auxiliary_warmup is not None:
            return min(step / self.auxiliary_warmup, 1.0)
        if self.auxiliary_cycle is not None:
            return min(2 * ((step - 1) % self.auxiliary_cycle) / self.auxiliary_cycle, 1.0)
        if self.auxiliary_epoch is not None:
            return min((step - 1) // self.auxiliary_epoch / 100, 1.0)
        return 1.0

    def teacher_share(self, step: int) -> float:
        """How often a decoder is fed the right token rather than its own at a step, the first being 1."""
        return _decayed(self.teacher, self.teacher_decay, step)

    def to_json(self) -> dict[str, Any]:
        """All fields by name, fit for a JSON file."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "TrainConfig":
        """The inverse of :meth:`to_json`; every field must be there, so that a default changed later changes no run."""
        names = [field.name for field in dataclasses.fields(cls)]
        for name in document:
            if name not in names:
                raise UserError(f"training has no setting {name!r}: choose from {', '.join(names)}")
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for name in names:
            if name not in document:
                raise UserError(f"training setting {name!r} is missing: write all of {', '.join(names)}")
            values[name] = _typed(name, document[name], get_args(hints[name]) or (hints[name],))
        return cls(**values)


def _decayed(first: float | None, decay: float | None, step: int) -> float:
    return (first or 0.0) * (1.0 if decay is None else decay) ** (step - 1)


def _require(condition: bool, name: str, value: object, wanted: str) -> None:
    if not condition:
        raise UserError(f"training setting {name!r} is {value!r}: write {wanted}")


def _positive(value: float) -> bool:
    return 0 < value < math.inf


def _typed(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """``value`` if it has one of the kinds a field allows; JSON writes 1.0 as 1, so whole numbers serve as floats."""
    if value is None and type(None) in kinds:
        return None
    if float in kinds and type(value) in (int, float):
        return float(value)
    wanted = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
    _require(type(value) in kinds, name, value, f"a value of type {wanted}")
    return value
