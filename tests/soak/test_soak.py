"""Long runs, shortened; ``make soak`` takes minutes."""

from functools import partial
from pathlib import Path

import pytest

from mnemon.rnn import Engine
from tests.soak.sequence import growth_of_peak, in_a_process
from tests.soak.streaming import stream
from tests.soak.training import soak


@pytest.mark.parametrize(("engine", "steps"), [("native", 2_000), ("reference", 200)])
@pytest.mark.usefixtures("unchecked")
def test_streaming_takes_no_more_memory_with_every_step(engine: Engine, steps: int) -> None:
    assert stream(engine, steps, warm_up=100) < 0.01


@pytest.mark.usefixtures("unchecked")
def test_a_long_sequence_trains_in_the_memory_of_a_short_one() -> None:
    whole, replayed = (in_a_process(partial(growth_of_peak, 6_000, replay)) for replay in (None, 100))
    assert replayed < whole / 3


@pytest.mark.usefixtures("unchecked")
def test_rounds_of_training_leave_nothing_behind(tmp_path: Path) -> None:
    rounds, before, after = soak(tmp_path, seconds=0, at_least=3)
    assert rounds == 5
    assert after.growth_since(before) < 0.02
    assert after.files == before.files
