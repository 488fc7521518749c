"""Installed without a compiler: one notice, and everything as it was, on the reference engine."""

import warnings

import pytest
import torch

from mnemon import MANN, LSTMController, MemoryCell, NTMMemory, UserError
from mnemon.native import engine


@pytest.fixture(autouse=True)
def _not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "LIBRARY", None)
    engine._notice.cache_clear()


def make_cell() -> MemoryCell:
    torch.manual_seed(0)
    return MemoryCell(LSTMController(2, 3), NTMMemory(4, 2), output_size=2)


def test_one_notice_says_what_to_do() -> None:
    inputs = torch.randn(3, 2, 2)
    rnn = MANN(make_cell())
    with pytest.warns(UserWarning, match=r"install CMake and a C\+\+ compiler") as notices:
        output, _ = rnn(inputs)
    assert len(notices) == 1
    rnn(inputs)  # a warning would be an error
    MANN(make_cell())(inputs)
    assert rnn.engine_used == ("reference", "the kernels are not built")
    expected, _ = MANN(make_cell(), engine="reference")(inputs)
    torch.testing.assert_close(output, expected, rtol=0, atol=0)


def test_no_notice_where_the_reference_was_asked_for() -> None:
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        MANN(make_cell(), engine="reference")(torch.randn(3, 2, 2))
        with pytest.raises(UserError, match="the kernels are not built; write engine='auto' or 'reference'"):
            MANN(make_cell(), engine="native")(torch.randn(3, 2, 2))
    assert not notices
