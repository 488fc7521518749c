import pytest
import torch

from mnemon import MANN, LSTMController, MemoryCell, NTMMemory, UserError, WriteProtected, record_trace
from tests.parts import EVERY_MEMORY, make_rnn, random_input


@pytest.mark.parametrize("memory", EVERY_MEMORY)
def test_trace_holds_every_step_and_changes_nothing(memory: str) -> None:
    rnn, inputs = make_rnn(memory), random_input(5, 2, 4)
    untraced, _ = rnn(inputs)
    with record_trace(rnn) as trace:
        output, final = rnn(inputs)
    torch.testing.assert_close(output, untraced)  # a trace may take another engine
    assert trace.state.read_weights.shape[:2] == (5, 2)
    assert trace.interface is not None
    for name, part in trace.state._asdict().items():
        torch.testing.assert_close(part[-1], getattr(final.memory, name))
        assert not part.requires_grad
    for name, part in trace.controller._asdict().items():
        assert part.shape == (5, 2, 6)
        torch.testing.assert_close(part[-1], getattr(final.controller, name))
        assert not part.requires_grad
    rnn(inputs)
    assert len(trace["cell"]) == 5


def test_padded_rows_stand_still_in_the_trace() -> None:
    rnn, inputs = make_rnn("ntm"), random_input(5, 2, 4)
    with record_trace(rnn) as trace:
        rnn(inputs, lengths=torch.tensor([5, 2]))
    torch.testing.assert_close(trace.state.memory[4, 1], trace.state.memory[1, 1])
    assert not torch.allclose(trace.state.memory[4, 0], trace.state.memory[1, 0])


def test_traces_of_several_cells() -> None:
    memory = NTMMemory(4, 3)
    encoder, decoder = (
        MANN(MemoryCell(LSTMController(4, 6), memory, writing=writing)) for writing in (None, WriteProtected())
    )
    both = torch.nn.ModuleDict({"encoder": encoder, "decoder": decoder})
    inputs = torch.randn(3, 2, 4)
    with record_trace(both) as trace:
        _, state = encoder(inputs)
        decoder(inputs[:2], state)
    assert list(trace) == ["encoder.cell", "decoder.cell"]
    assert [len(trace[name]) for name in trace] == [3, 2]
    with pytest.raises(UserError, match=r"this trace has 2 cells: take one of trace\[name\]"):
        _ = trace.state


def test_nothing_recorded() -> None:
    with record_trace(make_rnn("dnc")) as trace:
        pass
    with pytest.raises(UserError, match="nothing was recorded"):
        _ = trace.interface
