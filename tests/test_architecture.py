"""Imports go one way, as the design lays down; read from the source, not from what happens to be loaded."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "mnemon"

# A part may import the parts named before it in its own row, and itself.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "initialisation": set(),
    "spectra": {"errors"},
    "state": set(),
    "views": set(),
    "memory": {"errors", "initialisation"},
    "interface": {"errors", "initialisation"},
    "programs": {"errors", "initialisation", "interface", "memory"},
    "controllers": {"errors", "initialisation", "memory", "programs"},
    "writing": {"errors", "memory"},
    "trace": {"errors", "state"},
    "cell": {"controllers", "errors", "interface", "memory", "state", "trace", "writing"},
    "native": {"cell", "controllers", "errors", "interface", "memory", "programs", "writing"},
    "rnn": {"cell", "errors", "memory", "native", "state", "trace"},
    "theory": {"errors", "spectra", "state"},
    "models": {
        "cell",
        "controllers",
        "errors",
        "interface",
        "memory",
        "native",
        "programs",
        "rnn",
        "state",
        "theory",
        "trace",
        "views",
        "writing",
    },
    "associative": {"errors"},
    "data": {"errors"},
    "tasks": {"data", "errors", "views"},
    "training": {"errors", "native", "tasks"},  # of native, the optimiser
    "viewer": {"errors", "memory", "state", "tasks", "theory", "trace", "training", "views"},
    "reservoir": {"errors", "spectra"},
    "laws": {"associative", "errors", "spectra", "theory", "training"},
    "report": {"errors", "laws", "training"},  # of laws, what they came to
    "ehr": {"cell", "data", "errors", "memory", "models", "state", "tasks", "trace", "training", "views"},
    "runner": {"ehr", "errors", "laws", "memory", "models", "report", "tasks", "theory", "trace", "training", "views"},
    "sweep": {"errors", "report", "runner", "training"},
    "experiments": {"ehr", "errors", "laws", "models", "rnn", "runner", "state", "tasks", "training"},
    "sharing": {"cell", "errors", "models", "state", "training", "views"},
    "commands": {
        "cell",
        "controllers",
        "data",
        "ehr",
        "errors",
        "experiments",
        "interface",
        "memory",
        "models",
        "native",
        "programs",
        "report",
        "rnn",
        "runner",
        "sharing",
        "sweep",
        "tasks",
        "theory",
        "trace",
        "training",
        "viewer",
        "views",
        "writing",
    },
    "cli": {"commands", "errors", "training"},
    "__main__": {"cli"},
}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write absolute imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    part = part_of(path)
    for name in imports_of(path):
        if name.split(".")[0] == "mnemon":
            imported = name.split(".")[1]
            assert imported == part or imported in MAY_IMPORT[part], f"{part} must not import {imported}"


def test_the_table_has_no_cycle() -> None:
    order = list(MAY_IMPORT)
    for part, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(part) for other in allowed), part


def test_tasks_know_no_model_and_nothing_is_unpickled() -> None:
    for path in FILES:
        for name in imports_of(path):
            assert name.split(".")[0] not in {"pickle", "dill", "joblib", "cloudpickle", "shelve", "marshal"}, path
        assert "torch.load(" not in path.read_text(), path


def test_import_is_light() -> None:
    heavy = [
        "sklearn",
        "ray",
        "submitit",
        "polars",
        "pyarrow",
        "rapidfuzz",
        "nltk",
        "accelerate",
        "rich",
        "tyro",
        "tensorboard",
        "matplotlib",
    ]
    script = f"import sys, mnemon; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
