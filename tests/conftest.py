"""Shapes are types: every annotation in mnemon is checked while the tests run."""

from collections.abc import Iterator

import jaxtyping
import pytest
import torch

jaxtyping.install_import_hook("mnemon", "beartype.beartype").__enter__()
torch.set_num_threads(1)


@pytest.fixture
def unchecked() -> Iterator[None]:
    """For tests of many thousand steps, which the checks would make ten times as long."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
