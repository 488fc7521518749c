"""The examples of today's memories run, are short, and show what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("name", ["delta_rule", "legendre_memory"])
def test_they_are_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 60


def test_the_delta_rule_replaces_what_linear_attention_adds_up() -> None:
    compare = runpy.run_path(str(EXAMPLES / "delta_rule.py"))["compare"]
    for seed in range(3):
        found = compare(seed)
        assert found["delta rule"][1] == 1.0
        assert found["linear attention"][1] < 1.0


@pytest.mark.usefixtures("unchecked")
def test_more_coefficients_recall_more_of_the_window() -> None:
    errors = runpy.run_path(str(EXAMPLES / "legendre_memory.py"))["errors"]
    coarse, fine = errors(2, 0), errors(8, 0)
    assert max(fine) < 0.02
    assert all(better < worse for better, worse in zip(fine, coarse, strict=True))
