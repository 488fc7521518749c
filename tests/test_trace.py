import pytest
import torch

from mnemon import (
    MANN,
    LSTMController,
    MemoryCell,
    NTMMemory,
    UniformWriting,
    UserError,
    WriteProtected,
    record_trace,
)
from mnemon.models.catalogue import build_model
from mnemon.models.config import ModelConfig
from mnemon.views import ViewSizes
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


def test_trace_says_which_steps_wrote() -> None:
    cell = MemoryCell(LSTMController(4, 6), NTMMemory(4, 3), writing=UniformWriting(interval=2))
    with record_trace(cell) as trace:
        MANN(cell)(torch.randn(5, 2, 4), lengths=torch.tensor([5, 3]))
    assert trace[""].written.int().T.tolist() == [[0, 1, 0, 1, 0], [0, 1, 0, 0, 0]]
    protected = MANN(MemoryCell(LSTMController(4, 6), NTMMemory(4, 3), writing=WriteProtected()))
    with record_trace(protected) as trace:
        protected(torch.randn(3, 2, 4))
    assert not trace["cell"].written.any()


def test_modes_of_a_latent_variable() -> None:
    config = ModelConfig(name="vmed", hidden=8, slots=5, word=6, heads=3)
    model = build_model(config, ViewSizes((7,), "sequence"), 4)
    views, lengths = [torch.randint(7, (5, 2))], [torch.tensor([5, 4])]
    with torch.no_grad(), record_trace(model) as trace:
        model(views, lengths=lengths, steps=3)
    decoder = trace["decoders.0.rnn.cell"]
    assert decoder.modes.shape == (3, 2, 3)
    torch.testing.assert_close(decoder.modes.sum(-1), torch.ones(3, 2))
    attention = decoder.state.read_weights[:-1].amax(-1) + 1e-6  # the modes of a step are what the one before read
    torch.testing.assert_close(decoder.modes[1:], attention / attention.sum(-1, keepdim=True))
    assert not trace["encoder.views.0.rnn.cell"].has_modes
    with pytest.raises(UserError, match="has no latent variable"):
        _ = trace["encoder.views.0.rnn.cell"].modes
