"""One step as a program of its own."""

from pathlib import Path

import pytest
import torch

from mnemon import MANN, DNCMemory, LSTMController, MemoryCell
from mnemon.sharing.step import Step, write_onnx


def dnc() -> MemoryCell:
    torch.manual_seed(0)
    return MemoryCell(LSTMController(5, 8, learned_state=True), DNCMemory(slots=6, word=4, reads=2), output_size=3)


def test_the_state_has_names_and_a_loop_over_steps_is_the_network() -> None:
    cell, inputs = dnc(), torch.randn(7, 2, 5)
    step = Step(cell)
    assert {"controller.hidden", "controller.cell", "memory.reads", "memory.usage"} <= set(step.names)
    state, said = step.init_state(2), []
    for each in inputs:
        output, *after = step(each, *state)
        state = tuple(after)
        said.append(output)
    expected, _ = MANN(cell)(inputs)
    torch.testing.assert_close(torch.stack(said), expected)


def test_onnx_runs_the_step_for_any_number_of_rows_and_slots_that_are_used_alike(tmp_path: Path) -> None:
    """At first all slots are unused: their order is a matter of ties, which both must settle alike."""
    runtime = pytest.importorskip("onnxruntime")
    cell = dnc()
    write_onnx(cell, tmp_path / "step.onnx")
    session, step = runtime.InferenceSession(str(tmp_path / "step.onnx")), Step(cell)
    assert [each.name for each in session.get_inputs()] == ["input", *(f"state.{name}" for name in step.names)]
    for rows in (1, 3):
        inputs = torch.randn(6, rows, 5)
        expected, _ = MANN(cell)(inputs)
        state = [part.numpy() for part in step.init_state(rows)]
        for number in range(6):
            fed = {f"state.{name}": part for name, part in zip(step.names, state, strict=True)}
            output, *state = session.run(None, {"input": inputs[number].numpy(), **fed})
            torch.testing.assert_close(torch.tensor(output), expected[number], atol=1e-5, rtol=1e-4)
