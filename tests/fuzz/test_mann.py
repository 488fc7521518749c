"""A network used in any order: split, saved, loaded, on either engine, in either precision ≡ the reference, whole.

A machine grows a sequence piece by piece and does things in between; after each, what came out so far, and the state,
must be those of the reference over the whole sequence at once. ``MNEMON_FUZZ=500`` tries so many sequences.
"""

import copy
import os
from typing import Any

import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from safetensors.torch import load, save

from mnemon import MANN
from mnemon.cell import CellState
from mnemon.state import detach, join, map_state, select
from tests.parts import EVERY_MEMORY, MEMORIES, make_rnn

BATCH = 2
TOLERANCES = {torch.float32: 2e-3, torch.float64: 1e-9}
EXAMPLES = int(os.environ.get("MNEMON_FUZZ", "5"))


class Used(RuleBasedStateMachine):
    """A network that is used, and what it has been given so far."""

    @initialize(
        memory=st.sampled_from(sorted(EVERY_MEMORY)),
        controller=st.sampled_from(["lstm", "gru", "elman", "feed-forward"]),
        dtype=st.sampled_from(sorted(TOLERANCES, key=str)),
        seed=st.integers(0, 1000),
    )
    def begin(self, memory: str, controller: str, dtype: torch.dtype, seed: int) -> None:
        self.reference = make_rnn(memory, controller, seed, engine="reference").to(dtype)
        self.used: MANN = copy.deepcopy(self.reference)
        self.has_kernel = memory in MEMORIES
        self.used.engine = "native" if self.has_kernel else "reference"
        self.dtype = dtype
        self.generator = torch.Generator().manual_seed(seed)
        self.pieces: list[torch.Tensor] = []  # inputs
        self.lengths: list[torch.Tensor] = []
        self.outputs: list[torch.Tensor] = []
        self.state: CellState | None = None

    @rule(steps=st.integers(1, 6), ragged=st.booleans(), size=st.sampled_from([0.0, 1.0, 1e4]), learns=st.booleans())
    def run(self, steps: int, ragged: bool, size: float, learns: bool) -> None:
        inputs = size * torch.randn(steps, BATCH, 4, generator=self.generator).to(self.dtype)
        lengths = torch.full((BATCH,), steps)
        if ragged:
            lengths = torch.randint(0, steps + 1, (BATCH,), generator=self.generator)
        with torch.set_grad_enabled(learns):
            output, self.state = self.used(inputs, self.state, lengths=lengths if ragged else None)
        self.pieces.append(inputs)
        self.lengths.append(lengths)
        self.outputs.append(output.detach())

    @precondition(lambda self: self.state is not None)
    @rule()
    def cut_the_gradient(self) -> None:
        self.state = detach(self.state)  # type: ignore[type-var]

    @precondition(lambda self: self.state is not None)
    @rule()
    def take_the_batch_apart(self) -> None:
        assert self.state is not None
        self.state = join([select(self.state, row) for row in range(BATCH)])

    @rule()
    def save_and_load(self) -> None:
        """The weights through bytes, into a network of other weights."""
        weights = load(save({name: tensor.contiguous() for name, tensor in self.used.state_dict().items()}))
        for parameter in self.used.parameters():
            torch.nn.init.normal_(parameter)
        self.used.load_state_dict(weights)

    @precondition(lambda self: self.state is not None)
    @rule()
    def save_and_load_the_state(self) -> None:
        assert self.state is not None
        tensors: list[torch.Tensor] = []
        map_state(lambda part: tensors.append(part.detach()) or part, self.state)  # type: ignore[func-returns-value]
        loaded = load(save({str(place): tensor.clone().contiguous() for place, tensor in enumerate(tensors)}))
        places = iter(range(len(tensors)))
        self.state = map_state(lambda _: loaded[str(next(places))], self.state)

    @rule(engine=st.sampled_from(["native", "reference", "auto"]), replay=st.sampled_from([None, 1, 3]))
    def change_engine(self, engine: Any, replay: int | None) -> None:
        self.used.engine = engine if self.has_kernel else "reference"
        self.used.replay = replay

    @rule()
    def copy_it(self) -> None:
        self.used = copy.deepcopy(self.used)

    @precondition(lambda self: self.state is not None)
    @invariant()
    def as_the_reference(self) -> None:
        """Row by row, as a row may have ended early in every piece; its state is that of the steps that counted."""
        tolerance = TOLERANCES[self.dtype]
        for row in range(BATCH):
            ends = [int(lengths[row]) for lengths in self.lengths]
            counted = [piece[:end, row : row + 1] for piece, end in zip(self.pieces, ends, strict=True)]
            said = [output[:end, row : row + 1] for output, end in zip(self.outputs, ends, strict=True)]
            with torch.no_grad():
                output, state = self.reference(torch.cat(counted))
            torch.testing.assert_close(torch.cat(said), output, rtol=tolerance, atol=tolerance)
            mine = select(detach(self.state), row)  # type: ignore[type-var]
            torch.testing.assert_close(mine, state, rtol=tolerance, atol=tolerance)


Used.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="MNEMON_FUZZ" not in os.environ,
)
test_use_in_any_order = Used.TestCase
