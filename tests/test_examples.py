"""The examples run as they are, say something, and are short enough to be read at once."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
LONG = {"switching_regimes.py", "streaming_step.py"}  # take minutes, and have tests of their own
EXAMPLES = [path for path in sorted(FOLDER.glob("*.py")) if path.name not in LONG]
LINES = 60


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < LINES
    assert f"Run with: python examples/{path.name}" in text
    runpy.run_path(str(path), run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) > 2


@pytest.mark.usefixtures("unchecked")
def test_a_stream_keeps_its_state_alone() -> None:
    """Shortened; ten times as many steps must not need more than noise."""
    main = runpy.run_path(str(FOLDER / "streaming_step.py"))["main"]
    assert main(3_000) < 8  # MB; the states of 2,700 steps would take 10
