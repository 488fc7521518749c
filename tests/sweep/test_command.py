"""What a sweep refuses before it asks any cluster, and the rates of a search."""

from pathlib import Path
from typing import Any

import pytest

from mnemon.commands.sweep import Sweep
from mnemon.errors import UserError
from mnemon.sweep.ladder import Ladder


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"executor": "slurm", "address": "host:1"}, "--address host:1 is for Ray: leave it out"),
        ({"executor": "local", "gpus": 0.5}, "gpus is 0.5: a queue gives whole ones"),
        ({"retries": -1}, "gpus and retries must be at least 0, got 0 and -1"),
        ({"search": "learning-rate", "executor": "slurm"}, "a search needs Ray: leave out --executor slurm"),
        ({"search": "learning-rate", "search_seed": 2}, "search-seed 2 is one of the seeds reported: write 3 or more"),
        ({"search": "learning-rate", "trials": 1}, "trials must be at least 2, got 1"),
        ({"search": "learning-rate", "lowest": 1.0}, "rates from 1 to 0.01: write the lower first, above 0"),
        ({"only": "Oracle"}, "no job of memorisation has 'Oracle' in its name"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        Sweep(experiment="memorisation", out=tmp_path / "out", **settings).run()
    assert message in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a sweep needs ray: pip install 'mnemon[sweep]'"),
        ({"search": "learning-rate"}, "a search needs ray: pip install 'mnemon[sweep]'"),
        ({"executor": "slurm"}, "a queue needs submitit: pip install 'mnemon[sweep]'"),
    ],
)
def test_a_package_that_is_missing_is_named(
    settings: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UserError) as refused:
        Sweep(experiment="memorisation", out=tmp_path / "out", **settings).run()
    assert str(refused.value) == message
    assert list(tmp_path.iterdir()) == []


def test_a_ladder_has_equal_factors_and_the_own_rate() -> None:
    assert Ladder(lowest=1e-4, highest=1e-1, count=4).rates(1e-3) == [1e-4, 1e-3, 1e-2, 1e-1]
    assert Ladder(lowest=1e-4, highest=1e-2, count=2).rates(0.5) == [1e-4, 1e-2, 0.5]
    assert Ladder().rates(1e-4) == [1e-5, 3.16e-5, 1e-4, 3.16e-4, 1e-3, 3.16e-3, 1e-2]
