import pytest
import torch

from mnemon import MANN, LSTMController, MemoryCell, WriteProtected, record_trace
from tests.parts import MEMORIES, random_input


@pytest.mark.parametrize("memory", MEMORIES)
def test_write_protected_cell_reads_but_never_writes(memory: str) -> None:
    torch.manual_seed(0)
    shared = MEMORIES[memory]()
    writer = MANN(MemoryCell(LSTMController(4, 6, dtype=torch.float64), shared))
    reader = MANN(MemoryCell(LSTMController(4, 6, dtype=torch.float64), shared, writing=WriteProtected()))
    inputs = random_input(4, 2, 4)
    _, written = writer(inputs)
    with record_trace(reader) as trace:
        _, state = reader(inputs, written)
    torch.testing.assert_close(state.memory.memory, written.memory.memory, rtol=0, atol=0)
    assert not torch.allclose(trace.state.read_weights[0], trace.state.read_weights[-1])
    if memory.startswith("dnc") and memory != "dnc-no-links":
        torch.testing.assert_close(state.memory.links, written.memory.links, rtol=0, atol=0)
