import io
from unittest import mock

import pytest

from mnemon.training.progress import BarProgress, LineProgress, make_progress
from mnemon.training.record import Record

EVAL = Record(kind="eval", step=3, loss=0.5, metrics={"bit_errors": 1.25, "solved": 0.0}, test="longer")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    assert isinstance(make_progress(), BarProgress)


def test_elsewhere_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert isinstance(make_progress(), LineProgress)


def test_default_writes_to_standard_error_only(capsys: pytest.CaptureFixture[str]) -> None:
    progress = make_progress()
    progress.start(0, 10)
    progress.show(EVAL)
    progress.stop()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "longer: loss 0.5  bit_errors 1.25  solved 0" in printed.err


def test_lines_are_occasional(capsys: pytest.CaptureFixture[str]) -> None:
    progress = LineProgress()
    with mock.patch("mnemon.training.progress.time.monotonic") as clock:
        clock.return_value = 100.0
        progress.start(20, 120)
        progress.show(EVAL)
        for step in range(21, 71):
            clock.return_value += 0.5
            progress.step(step, 0.25)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "from step 20 to 120"
    assert lines[2:] == [
        "step 40/120  loss 0.25  bit_errors 1.25  2 steps/s  0:00:40 left",
        "step 60/120  loss 0.25  bit_errors 1.25  2 steps/s  0:00:30 left",
    ]


def test_bar_shows_loss_metric_speed_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    progress = BarProgress()
    with mock.patch("mnemon.training.progress.time.monotonic") as clock:
        clock.return_value = 100.0
        progress.start(0, 100)
        progress.show(EVAL)
        clock.return_value = 110.0
        progress.step(20, 0.25)
        progress.stop()
    assert "20/100" in terminal.getvalue()
    assert "loss 0.25  bit_errors 1.25  2 steps/s  0:00:40 left" in terminal.getvalue()


def test_bar_is_drawn_a_few_times_a_second_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    progress = BarProgress()
    with mock.patch("mnemon.training.progress.time.monotonic") as clock:
        clock.return_value = 100.0
        progress.start(0, 1000)
        with mock.patch.object(progress, "_draw") as draw:
            for step in range(1, 1001):
                clock.return_value += 0.001
                progress.step(step, 0.25)
            assert 4 <= draw.call_count <= 6
        progress.stop()
