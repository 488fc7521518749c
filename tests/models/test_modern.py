"""The catalogue's settings reach the memories; each learns to hold a bit."""

from pathlib import Path
from typing import Any

import pytest
import torch

import mnemon
from mnemon import MANN
from mnemon.memory import DeltaMemory, LegendreMemory
from mnemon.models.catalogue import MODELS, build_model
from mnemon.models.config import ModelConfig
from mnemon.models.modern import MODERN, WINDOW


def memory_of(**settings: Any) -> Any:
    model = build_model(ModelConfig(hidden=5, slots=4, word=3, heads=2, **settings), input_size=3, output_size=2)
    assert isinstance(model, MANN)
    return model.cell.memory


@pytest.mark.parametrize("name", MODERN)
def test_sizes_are_those_of_the_settings(name: str) -> None:
    memory = memory_of(name=name)
    assert (memory.slots, memory.word) == (4, 3)
    assert memory.reads == (4 if name == "lmu" else 2)
    assert MODELS[name].thesis == "beyond"
    source = Path(mnemon.__file__).parent.parent / MODELS[name].file
    assert f"class {type(memory).__name__}" in source.read_text(encoding="utf-8")


def test_one_rule_with_three_names() -> None:
    options = {name: memory_of(name=name) for name in ("deltanet", "gated-deltanet", "linear-attention")}
    assert {name: (rule.delta, rule.gated) for name, rule in options.items() if isinstance(rule, DeltaMemory)} == {
        "deltanet": (True, False),
        "gated-deltanet": (True, True),
        "linear-attention": (False, False),
    }


def test_window_of_the_legendre_memory() -> None:
    default, given = memory_of(name="lmu"), memory_of(name="lmu", encoded=24)
    assert isinstance(default, LegendreMemory)
    assert (default.window, given.window) == (WINDOW, 24)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", MODERN)
def test_it_learns_to_say_what_it_was_shown_three_steps_ago(name: str) -> None:
    """A bit that the controller, which is feed-forward, cannot hold."""
    torch.manual_seed(0)
    config = ModelConfig(name=name, controller="feed-forward", hidden=16, slots=6, word=6, encoded=4)
    model = build_model(config, input_size=3, output_size=1)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-2, fused=True)
    generator = torch.Generator().manual_seed(1)
    for step in range(101):
        bits = torch.randint(2, (32,), generator=generator)
        inputs = torch.zeros(4, 32, 3)
        inputs[0, torch.arange(32), bits] = 1.0
        inputs[3, :, 2] = 1.0
        output = model(inputs)[0][-1, :, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(output, bits.float())
        if step < 100:
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    assert loss < 0.2
