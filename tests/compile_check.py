"""Compiles and exports each memory; run as a script, because checked annotations and compilation do not mix."""

import itertools
import sys
from typing import Any

import torch

from mnemon import MANN, DequeMemory, DNCMemory, LRUAMemory, LSTMController, MemoryCell, NTMMemory, StackMemory
from mnemon.memory import Memory
from mnemon.native import engine as native

MEMORIES: dict[str, Memory[Any, Any]] = {
    "ntm": NTMMemory(5, 3, reads=2, writes=2),
    "dnc": DNCMemory(5, 3, reads=2),
    "dnc-no-links": DNCMemory(5, 3, reads=2, links=False),
    "dnc-repaired": DNCMemory(5, 3, reads=2, masked_lookup=True, erase_freed=True, sharp_links=True),
    "lrua": LRUAMemory(5, 3, reads=2),
    "stack": StackMemory(5, 3),
    "deque": DequeMemory(5, 3),
}


def check(name: str) -> None:
    """Compiled in one graph, and exported with a free batch size, the network gives what it gives eagerly."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    cell = MemoryCell(LSTMController(4, 6, learned_state=True), MEMORIES[name], output_size=2)
    inputs, lengths = torch.randn(2, 2, 4), torch.tensor([2, 1])
    covered = native.why_not(cell, inputs) is None
    engines = ("reference", "native") if covered else ("reference",)
    for engine, keywords in itertools.product(engines, ({}, {"lengths": lengths})):
        rnn = MANN(cell, engine=engine)  # type: ignore[arg-type]
        compiled = torch.compile(rnn, fullgraph=True, backend="aot_eager")
        expected, _ = rnn(inputs, **keywords)
        output, _ = compiled(inputs, **keywords)
        torch.testing.assert_close(output, expected)
        wanted = torch.autograd.grad(expected.sum(), list(rnn.parameters()))
        given = torch.autograd.grad(output.sum(), list(rnn.parameters()))
        torch.testing.assert_close(given, wanted)

    state = rnn.cell.init_state(2)
    batch = torch.export.Dim("batch", min=1, max=64)
    dynamic = torch.utils._pytree.tree_map(lambda _: {0: batch}, state)
    exported = torch.export.export(rnn.cell, (inputs[0], state), dynamic_shapes=({0: batch}, dynamic))
    more, more_state = torch.randn(5, 4), rnn.cell.init_state(5)
    output, after = exported.module()(more, more_state)
    expected, expected_after = rnn.cell(more, more_state)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(after.memory, expected_after.memory)
    if covered:
        check_sequences(rnn)


def check_sequences(rnn: MANN) -> None:
    """Exported with a free number of steps and rows, the native engine's one call gives what it gives eagerly."""
    steps, batch = torch.export.Dim("steps", min=1, max=512), torch.export.Dim("batch", min=1, max=64)
    for ragged in (False, True):
        keywords = {"lengths": torch.tensor([3, 0, 5])} if ragged else {}
        shapes = {"inputs": {0: steps, 1: batch}} | ({"lengths": {0: batch}} if ragged else {})
        exported = torch.export.export(rnn, (torch.randn(5, 3, 4),), keywords, dynamic_shapes=shapes)
        assert "mnemon.sequence.default" in [str(node.target) for node in exported.graph.nodes]
        for size in ((5, 3), (1, 1), (2, 7), (33, 2)):
            inputs = torch.randn(*size, 4)
            more = {"lengths": torch.randint(size[0] + 1, (size[1],))} if ragged else {}
            output, state = exported.module()(inputs, **more)
            expected, expected_state = rnn(inputs, **more)
            torch.testing.assert_close(output, expected)
            torch.testing.assert_close(state.memory, expected_state.memory)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        check(argument)
    print("all the same")
