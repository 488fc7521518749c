"""Shapes are types: every annotation in mnemon is checked while the tests run. And one browser for tests of pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import jaxtyping
import pytest
import torch

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.pages import Watched

jaxtyping.install_import_hook("mnemon", "beartype.beartype").__enter__()
torch.set_num_threads(1)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """For tests of many thousand steps, which the checks would make ten times as long."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'mnemon[dev]'")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def screenshots(pytestconfig: pytest.Config) -> Path:
    """Where pictures of the pages are left, for people to look at."""
    folder = pytestconfig.rootpath / "screenshots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def watched(browser: "Browser") -> "Iterator[Watched]":
    """An empty page."""
    from tests.pages import Watched

    page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
    yield Watched(page)
    page.close()
